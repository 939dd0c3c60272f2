package admin

import "fmt"

// A Tolerance is how many nodes a cluster can do without. It takes a majority of
// all voters to decide anything, whether they answer or not.
type Tolerance struct {
	Voters    int `json:"voters"`
	Answering int `json:"answering"`         // voters
	Needed    int `json:"needed"`            // voters
	Failures  int `json:"failure_tolerance"` // how many of those that answer may fail
}

func toleranceOf(nodes []ClusterNode) (t Tolerance) {
	for i := range nodes {
		if nodes[i].Role != RoleVoter {
			continue
		}
		t.Voters++
		if nodes[i].State != StateUnreachable {
			t.Answering++
		}
	}
	if t.Voters > 0 {
		t.Needed = t.Voters/2 + 1
	}
	t.Failures = max(0, t.Answering-t.Needed)
	return t
}

// String is a sentence for people.
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
	return "no more node may fail: " + counts
}
