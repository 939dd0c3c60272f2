package admintest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// Started is the initial time of an Env's clock.
var Started = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// Token is the join token that every invitation of a Cluster has.
const Token = admin.Plain("mintmark-join-AbCdEf0123456789")

// A Cluster is an admin.Cluster whose status a test sets, and which records calls.
type Cluster struct {
	mu    sync.Mutex // guards the fields below
	state admin.ClusterStatus
	err   error
	calls []string
}

// NewCluster returns a cluster of three healthy nodes, n1 to n3. n2 is the leader, and n1 is
// the node that is asked.
func NewCluster() *Cluster {
	c := &Cluster{state: admin.ClusterStatus{Name: "n1", ID: "id-n1", Leader: "n2", Term: 7, Level: 1, StateTime: Started, StateAhead: -12_000}}
	for i, state := range []string{"follower", "leader", "follower"} {
		c.state.Nodes = append(c.state.Nodes, status.Node{
			Name: fmt.Sprintf("n%d", i+1), ID: fmt.Sprintf("id-n%d", i+1), Address: fmt.Sprintf("10.0.0.%d:8300", i+1),
			Role: status.RoleVoter, State: state, Term: 7, Applied: 1000, Last: 1000, Version: "v1", Level: 1,
			CertificateExpires: Started.Add(30 * 24 * time.Hour), DiskFree: 1 << 30, Follows: "n2",
		})
	}
	return c
}

// Change changes the status of the cluster.
func (c *Cluster) Change(change func(*admin.ClusterStatus)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.state)
}

// Fail makes all later changes fail with err, or succeed if err is nil.
func (c *Cluster) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// Calls returns the changes that were requested, in a form such as "remove n3 force=true".
func (c *Cluster) Calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

func (c *Cluster) do(format string, args ...any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.calls = append(c.calls, fmt.Sprintf(format, args...))
	}
	return c.err
}

// Status implements admin.Cluster.
func (c *Cluster) Status(context.Context) admin.ClusterStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Nodes = slices.Clone(s.Nodes)
	return s
}

// Invite implements admin.Cluster.
func (c *Cluster) Invite(_ context.Context, name, replaces string, lifetime time.Duration) (admin.Plain, time.Time, error) {
	if err := c.do("invite %s replaces=%s %s", name, replaces, lifetime); err != nil {
		return "", time.Time{}, err
	}
	return Token, Started.Add(lifetime), nil
}

// Invitations implements admin.Cluster. It always returns one.
func (c *Cluster) Invitations(context.Context) (open []admin.OpenInvitation, stale bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return []admin.OpenInvitation{{Name: "n4", Replaces: "n3", Expires: Started.Add(time.Hour)}}, c.state.Leader == ""
}

// Withdraw implements admin.Cluster.
func (c *Cluster) Withdraw(_ context.Context, name string) error { return c.do("withdraw %s", name) }

// Remove implements admin.Cluster.
func (c *Cluster) Remove(_ context.Context, name string, force bool) error {
	return c.do("remove %s force=%t", name, force)
}

// TransferLeadership implements admin.Cluster.
func (c *Cluster) TransferLeadership(_ context.Context, to string) (admin.Transferred, error) {
	t := admin.Transferred{ID: to, Already: to == "n2"}
	if to == "" {
		t.ID = "n3"
	}
	return t, c.do("transfer to=%s", to)
}

// Checksum implements admin.Cluster.
func (c *Cluster) Checksum() (sum [32]byte, applied uint64) { return [32]byte{0xab, 31: 1}, 1000 }

// AcceptClock implements admin.Cluster.
func (c *Cluster) AcceptClock() error { return c.do("accept-clock") }

// A Rule is a refusal of a Cluster.
type Rule string

func (r Rule) Error() string { return "rule: " + string(r) }

// Refusal returns the reason, in words for operators.
func (r Rule) Refusal() string { return string(r) }
