package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/status"
)

// Thresholds of problems.
const (
	maxLag                 = 10_000             // entries
	minCertificateValidity = 7 * 24 * time.Hour // certificates are renewed long before
	minTLSValidity         = 2 * 24 * time.Hour // half of what the shortest-lived public certificates have left when they are renewed
	maxClockOffset         = 5 * time.Second
	maxStateAhead          = 10 * time.Second // the cluster decides no commands if state time is further ahead
	minDiskFree            = 128 << 20        // bytes
	maxClockOffsetMillis   = int64(maxClockOffset / time.Millisecond)
)

// problems returns why a cluster is not healthy: problems of the cluster first, then of
// each node in order.
func (s *ClusterStatus) problems(now time.Time) []string {
	all := []string{}
	if apart := cmp.Or(s.Removed, s.Duplicate); apart != "" {
		return append(all, apart)
	}
	if s.ID == "" {
		return all // the node has not opened its data, so it has no list of members
	}
	if s.Isolated != "" { // this causes everything that the node does not know of the others
		all = append(all, ErrIsolated.Error()+": "+s.Isolated)
	}
	member := slices.ContainsFunc(s.Nodes, func(n status.Node) bool { return n.ID == s.ID })
	if !member { // this causes everything that would follow
		all = append(all, ErrNotMember.Error())
	}
	if ahead := s.ahead(); ahead > maxStateAhead {
		all = append(all, fmt.Sprintf("the cluster's time is %s ahead of the clocks, so nothing can be decided before they are there, %s from now: "+
			"if the clocks were set back, set them right; if a wrong clock has stamped, the way back is the restore of an earlier backup",
			ahead.Round(time.Second), ahead.Round(time.Second)))
	}
	for i := range s.Nodes { // clocks first, since they must be corrected before anything else
		if n := &s.Nodes[i]; n.ClockUntrusted {
			all = append(all, n.Name+": "+nodeError(n))
		}
	}
	switch {
	case s.Leader == "" && member && s.leaderSeenByOthers() != "":
		all = append(all, "this node hears no leader, so it lags and may decide nothing: "+s.leaderSeenByOthers()+", which cannot reach this node")
	case s.Leader == "" && member:
		all = append(all, "no leader is known, so nothing can be decided"+s.majorityLostReason())
	case s.Leader == "":
		all = append(all, "no leader is known, so nothing can be decided")
	}
	all = append(all, s.Unfinished...)
	for i := range s.Nodes {
		n := s.Nodes[i]
		if s.Isolated != "" {
			if n.State == status.StateUnreachable {
				continue
			}
			n.Error = "" // already listed above
		}
		if n.ClockUntrusted { // already listed above
			if n.State == status.StateUnreachable {
				continue
			}
			n.Error = ""
		}
		if s.Leader != "" && n.Role == status.RoleVoter && n.Follows == "" && n.State != status.StateLeader && n.State != status.StateUnreachable {
			all = append(all, fmt.Sprintf("%s: it hears no leader (%s leads)", n.Name, s.Leader))
		}
		for _, p := range nodeProblems(&n, now) {
			all = append(all, n.Name+": "+p)
		}
	}
	return all
}

func (s *ClusterStatus) ahead() time.Duration { return time.Duration(s.StateAhead) * time.Millisecond }

// leaderSeenByOthers returns which leader the other nodes report, such as "n2 leads", for
// a node that knows no leader itself. It is "" if they report none.
func (s *ClusterStatus) leaderSeenByOthers() string {
	follows := ""
	for i := range s.Nodes {
		switch n := &s.Nodes[i]; {
		case n.ID == s.ID || n.State == status.StateUnreachable:
		case n.State == status.StateLeader:
			return n.Name + " leads"
		case n.Follows != "" && n.Follows != s.Name && follows == "":
			follows = n.Name + " follows " + n.Follows
		}
	}
	return follows
}

// majorityLostReason returns which voters do not answer if too few do to elect a leader, and ""
// if enough do. It is ErrMajorityLost only if a recovery without those voters may be
// right: not without a node that isolated itself, which returns by itself when its disk
// takes writes again, and not while clocks are wrong.
func (s *ClusterStatus) majorityLostReason() string {
	if s.Isolated != "" {
		return ""
	}
	voters := 0
	var silent, hungUp []string
	for i := range s.Nodes {
		switch n := &s.Nodes[i]; {
		case n.Role != status.RoleVoter:
		case n.State == status.StateUnreachable:
			silent = append(silent, n.Name)
			if n.HungUp {
				hungUp = append(hungUp, n.Name)
			}
			fallthrough
		default:
			voters++
		}
	}
	if 2*len(silent) < voters || voters == 0 {
		return ""
	}
	if len(hungUp) > 0 {
		them := "is %s, which hangs up, as a node does whose disk is full or fails: look at its disk and log first"
		if len(hungUp) > 1 {
			them = "are %s, which hang up, as nodes do whose disks are full or fail: look at their disks and logs first"
		}
		return fmt.Sprintf(": of %d voters %s can't be reached, and still running "+them,
			voters, strings.Join(silent, " and "), strings.Join(hungUp, " and "))
	}
	if s.ahead() > maxStateAhead || slices.ContainsFunc(s.Nodes, func(n status.Node) bool { return n.ClockUntrusted }) {
		return fmt.Sprintf(": of %d voters %s can't be reached; see to the clocks first", voters, strings.Join(silent, " and "))
	}
	return fmt.Sprintf(": of %d voters %s can't be reached, so %v", voters, strings.Join(silent, " and "), ErrMajorityLost)
}

// nodeError returns why a node can't be reached, or what is wrong with it.
func nodeError(n *status.Node) string {
	switch {
	case n.State != status.StateUnreachable:
		return n.Error
	case n.Error == "":
		return "it can't be reached"
	}
	return "it can't be reached: " + n.Error
}

func nodeProblems(n *status.Node, now time.Time) (all []string) {
	switch {
	case n.State == status.StateUnreachable && n.Error == "" && n.Role != status.RoleVoter:
		return nil // the node is joining, and nothing depends on it yet
	case n.State == status.StateUnreachable:
		return []string{nodeError(n)}
	case n.Error != "":
		all = append(all, nodeError(n))
	}
	if n.Lag > maxLag {
		all = append(all, fmt.Sprintf("it is %d entries behind", n.Lag))
	}
	switch left := n.CertificateExpires.Sub(now); {
	case n.CertificateExpires.IsZero():
	case left <= 0:
		all = append(all, "its certificate has expired")
	case left < minCertificateValidity:
		all = append(all, "its certificate expires on "+n.CertificateExpires.UTC().Format(time.RFC3339))
	}
	switch left := n.TLSExpires.Sub(now); {
	case n.TLSExpires.IsZero():
	case left <= 0:
		all = append(all, "its TLS certificate for clients has expired")
	case left < minTLSValidity:
		all = append(all, "its TLS certificate for clients expires on "+n.TLSExpires.UTC().Format(time.RFC3339))
	}
	if o := n.ClockOffset; o > maxClockOffsetMillis || o < -maxClockOffsetMillis {
		all = append(all, fmt.Sprintf("its clock differs by %s", time.Duration(o)*time.Millisecond))
	}
	if n.DiskFree > 0 && n.DiskFree < minDiskFree {
		all = append(all, fmt.Sprintf("its disk has %d MiB left", n.DiskFree>>20))
	}
	return all
}
