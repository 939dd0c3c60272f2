package admin

import (
	"github.com/mintmark-auth/mintmark/cluster/status"
)

import "fmt"

// A Tolerance is how many voters may fail. Every decision needs a majority of all voters,
// reachable or not.
type Tolerance struct {
	Voters    int `json:"voters"`
	Answering int `json:"answering"`         // reachable voters
	Needed    int `json:"needed"`            // voters of a majority
	Failures  int `json:"failure_tolerance"` // how many of the reachable voters may fail
}

func toleranceOf(nodes []status.Node) (t Tolerance) {
	for i := range nodes {
		if nodes[i].Role != status.RoleVoter {
			continue
		}
		t.Voters++
		if nodes[i].State != status.StateUnreachable {
			t.Answering++
		}
	}
	if t.Voters > 0 {
		t.Needed = t.Voters/2 + 1
	}
	t.Failures = max(0, t.Answering-t.Needed)
	return t
}

// ExpectedVoters is how many nodes should vote, as they did before: an odd number from 3 on,
// 0 if there never were 3.
func (s *ClusterStatus) ExpectedVoters() int {
	if s.MostMembers < 3 {
		return 0
	}
	return s.MostMembers - (s.MostMembers+1)%2
}

// String describes the tolerance in a sentence.
func (t Tolerance) String() string {
	counts := fmt.Sprintf("%d of %d voters answer, it takes %d", t.Answering, t.Voters, t.Needed)
	more := ""
	if t.Answering < t.Voters {
		more = "more "
	}
	switch {
	case t.Answering < t.Needed:
		return "too few voters are left to decide anything: " + counts
	case t.Failures == 1:
		return "1 " + more + "node may fail: " + counts
	case t.Failures > 1:
		return fmt.Sprintf("%d %snodes may fail: %s", t.Failures, more, counts)
	case t.Voters < 3:
		return fmt.Sprintf("no node may fail: %s; of three, one can be spared", counts)
	}
	return "no further node may fail: " + counts
}
