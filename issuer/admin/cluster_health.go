package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// From when on something is a problem.
const (
	maxLag          = 10_000             // entries
	leastValid      = 7 * 24 * time.Hour // of a certificate: it renews itself long before
	maxClockOffset  = 5 * time.Second
	defaultDiskLow  = 128 << 20 // bytes
	millisOffsetMax = int64(maxClockOffset / time.Millisecond)
)

// problems is why a cluster is not healthy, of the whole first and then node by
// node in their order.
func (s *ClusterStatus) problems(now time.Time) []string {
	all := []string{}
	if apart := cmp.Or(s.Removed, s.Twin); apart != "" {
		return append(all, apart)
	}
	member := slices.ContainsFunc(s.Nodes, func(n ClusterNode) bool { return n.ID == s.ID })
	if !member { // and what follows is no wonder
		all = append(all, fmt.Sprintf("this node, %s, was removed from the cluster: "+
			"its machine comes back only by an invitation, with an empty data folder", s.Name))
	}
	switch {
	case s.Leader == "" && member:
		all = append(all, "no leader is known, so nothing can be decided"+s.lostMajority())
	case s.Leader == "":
		all = append(all, "no leader is known, so nothing can be decided")
	}
	all = append(all, s.Unfinished...)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for _, p := range n.problems(now) {
			all = append(all, n.Name+": "+p)
		}
	}
	return all
}

// lostMajority says what to do where too few voters answer to elect a leader.
func (s *ClusterStatus) lostMajority() string {
	voters := 0
	var silent []string
	for i := range s.Nodes {
		switch n := &s.Nodes[i]; {
		case n.Role != RoleVoter:
		case n.State == StateUnreachable:
			silent = append(silent, n.Name)
			fallthrough
		default:
			voters++
		}
	}
	if 2*len(silent) < voters || voters == 0 {
		return ""
	}
	them, they, are := "it", "it", "is"
	if len(silent) > 1 {
		them, they, are = "them", "they", "are"
	}
	return fmt.Sprintf(": of %d voters %s can't be reached; start %s again, or where %s %s lost for good, see mintmark cluster recover --help",
		voters, strings.Join(silent, " and "), them, they, are)
}

func (n *ClusterNode) problems(now time.Time) (all []string) {
	switch {
	case n.State == StateUnreachable && n.Error != "":
		return []string{"it can't be reached: " + n.Error}
	case n.State == StateUnreachable && n.Role == RoleVoter:
		return []string{"it can't be reached"}
	case n.State == StateUnreachable:
		return nil // it is about to come, and nobody depends on it
	case n.Error != "":
		all = append(all, n.Error)
	}
	if n.Lag > maxLag {
		all = append(all, fmt.Sprintf("it is %d entries behind", n.Lag))
	}
	switch left := n.CertificateExpires.Sub(now); {
	case n.CertificateExpires.IsZero():
	case left <= 0:
		all = append(all, "its certificate has expired")
	case left < leastValid:
		all = append(all, "its certificate expires on "+n.CertificateExpires.UTC().Format(time.RFC3339))
	}
	if o := n.ClockOffset; o > millisOffsetMax || o < -millisOffsetMax {
		all = append(all, fmt.Sprintf("its clock differs by %s", time.Duration(o)*time.Millisecond))
	}
	low := n.DiskLow
	if low == 0 {
		low = defaultDiskLow
	}
	if n.DiskFree > 0 && n.DiskFree < low {
		all = append(all, fmt.Sprintf("its disk has %d MiB left", n.DiskFree>>20))
	}
	return all
}
