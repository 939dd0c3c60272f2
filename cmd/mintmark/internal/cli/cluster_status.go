package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) clusterStatus() *cobra.Command {
	var voters uint
	status := command("status", "Show the state of the cluster; the exit code is 5 unless it is healthy", func(cmd *cobra.Command, _ []string) error {
		c, err := m.open(cmd)
		if err != nil {
			return err
		}
		defer c.Close()
		s, err := admin.ShowCluster.Call(cmdContext(cmd), c, admin.StatusQuery{})
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("voters") {
			requireVoters(&s, int(voters))
		} else if n := s.ExpectedVoters(); s.Voters > 0 && s.Voters < n {
			s.Healthy = false
			s.Problems = append(s.Problems, fmt.Sprintf("%v: %d of %d", admin.ErrVotersMissing, s.Voters, n))
		}
		if err := m.show(cmd, s, func(p *printer) { showStatus(p, s) }); err != nil {
			return err
		}
		if !s.Healthy {
			return &admin.Problem{Class: admin.Unavailable, Text: "the cluster is not healthy"}
		}
		return nil
	})
	status.Flags().UintVar(&voters, "voters", 0, "not healthy until `N` nodes vote and answer (default: as many as voted before, from 3 on)")
	status.Long = aboutStatus
	return status
}

const aboutStatus = `Show the state of the cluster; the exit code is 5 unless it is healthy. It does not
wait: where nodes were just started, repeat it with --voters N until it succeeds.

Once three nodes have voted, fewer are not well: a node that was removed or given
up is missing until another takes its place. --voters N says that N are meant to
vote.`

// requireVoters reports a problem if fewer than n voters answer. A cluster counts as
// healthy before its other nodes have joined.
func requireVoters(s *admin.ClusterStatus, n int) {
	voting := 0
	for i := range s.Nodes {
		if s.Nodes[i].Role == status.RoleVoter && s.Nodes[i].State != status.StateUnreachable {
			voting++
		}
	}
	if voting < n {
		s.Problems = append(s.Problems, fmt.Sprintf("%d of the %d nodes that are to vote do so and answer", voting, n))
		s.Healthy = false
	}
}

// showStatus prints first whether the cluster is healthy, then its problems, then the rest.
func showStatus(p *printer, s admin.ClusterStatus) {
	if s.Removed != "" { // and there is nothing else to know
		p.line("removed: %s", s.Removed)
		p.hints(p.out, s.Removed)
		return
	}
	if s.Duplicate != "" {
		p.line("not healthy: %s", s.Duplicate)
		p.hints(p.out, s.Duplicate)
		return
	}
	p.line("%s", summary(s))
	if s.Voters > 0 {
		p.line("%s", s.Tolerance)
	}
	if !s.StateTime.IsZero() {
		p.line("%s", stateTimeOf(s))
	}
	for _, problem := range s.Problems {
		p.line("problem: %s", problem)
	}
	p.hints(p.out, s.Problems...)
	if s.Backup != nil {
		p.line("%s", backupLine(s.Backup, server.WallClock()))
	}
	for _, line := range s.Attention {
		p.line("attention: %s", line)
	}
	p.hints(p.out, s.Attention...)
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Role != status.RoleVoter {
			p.line("joining: %s catches up, and becomes a voter by itself", n.Name)
		}
	}
	if len(s.Nodes) > 0 {
		p.line("")
		p.table([]string{"NAME", "ROLE", "STATE", "ADDRESS", "TERM", "APPLIED", "LAG", "VERSION", "LEVEL", "CLOCK", "CERTIFICATE UNTIL", "DISK FREE"}, nodeRows(s.Nodes))
		for i := range s.Nodes {
			if n := &s.Nodes[i]; !n.TLSExpires.IsZero() {
				p.line("%s: TLS certificate for clients until %s", n.Name, formatTime(n.TLSExpires))
			}
		}
	}
	if len(s.Keys) > 0 {
		p.line("")
		var rows [][]string
		for _, k := range s.Keys {
			rows = append(rows, []string{k.ID, k.Purpose, k.State, nextStep(k.State, k.NextStep)})
		}
		p.table([]string{"KEY", "PURPOSE", "STATE", "NEXT STEP"}, rows)
	}
}

func summary(s admin.ClusterStatus) string {
	state, leader := "not healthy", "no leader"
	if s.Healthy {
		state = "healthy"
	}
	if s.Leader != "" {
		leader = "leader " + s.Leader
	}
	answer := 0
	for i := range s.Nodes {
		if s.Nodes[i].State != status.StateUnreachable {
			answer++
		}
	}
	return fmt.Sprintf("%s: %s, %d of %d nodes answer, term %d, feature level %d (asked %s)",
		state, leader, answer, len(s.Nodes), s.Term, s.Level, s.Name)
}

// backupLine describes the last good backup, and which node makes the next one.
func backupLine(b *admin.BackupStatus, now time.Time) string {
	last := "no backup made yet"
	if l := b.Last; l != nil {
		last = fmt.Sprintf("last good backup %s, %s ago, on node %s: %s (%s)", l.At.UTC().Format(time.RFC3339), b.Age(now), l.Node, l.File, size(uint64(l.Bytes)))
	}
	switch {
	case b.Every == 0:
		return last + "; none are scheduled now"
	case b.Node == "":
		return last + "; no node makes them now"
	}
	return last + fmt.Sprintf("; node %s makes one every %s", b.Node, admin.FormatDuration(b.Interval()))
}

// stateTimeOf compares the time of the last decision with the clocks.
func stateTimeOf(s admin.ClusterStatus) string {
	ahead, way := time.Duration(s.StateAhead)*time.Millisecond, "ahead of"
	if ahead <= 0 {
		ahead, way = -ahead, "behind"
	}
	return fmt.Sprintf("last decision %s, %s %s the clocks", s.StateTime.UTC().Format(time.RFC3339), ahead.Round(time.Second), way)
}

func nodeRows(nodes []status.Node) [][]string {
	var rows [][]string
	for i := range nodes {
		n := &nodes[i]
		row := []string{n.Name, n.Role, n.State, n.Address, "", "", "", n.Version, count(uint64(n.Level)), "", "", ""}
		if n.State != status.StateUnreachable { // else they are not known, not zero
			row[4], row[5], row[6] = count(n.Term), count(n.Applied), count(n.Lag)
			row[9] = (time.Duration(n.ClockOffset) * time.Millisecond).String()
			row[10], row[11] = formatTime(n.CertificateExpires), size(n.DiskFree)
		}
		rows = append(rows, row)
	}
	return rows
}

func count(n uint64) string { return strconv.FormatUint(n, 10) }

// size formats a number of bytes; "" for 0, which means unknown.
func size(bytes uint64) string {
	switch {
	case bytes == 0:
		return ""
	case bytes < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	case bytes < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}
