package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// restart stops a node and starts it again on the same address.
func (tr *cluster3) restart(i int) {
	tr.t.Helper()
	shut(tr.t, tr.nodes[i])
	tr.start(i)
}

func (tr *cluster3) start(i int) {
	tr.t.Helper()
	l, err := net.Listen("tcp", tr.confs[i].Network.Advertise)
	require.NoError(tr.t, err)
	network := *tr.confs[i].Network
	network.Listener = l
	tr.confs[i].Network = &network
	tr.nodes[i] = open(tr.t, tr.confs[i])
}

// waitSoleAuthority waits until every node knows exactly one authority, and returns its
// id.
func (tr *cluster3) waitSoleAuthority() string {
	tr.t.Helper()
	var id string
	require.Eventually(tr.t, func() bool {
		for i, n := range tr.nodes {
			all := n.Authorities().List()
			if len(all) != 1 || all[0].State != cluster.AuthoritySigning || i > 0 && all[0].ID != id {
				return false
			}
			id = all[0].ID
		}
		return true
	}, 30*time.Second, 10*time.Millisecond)
	return id
}

func TestChangeOfTheAuthority(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	first := tr.waitSoleAuthority()
	token, _, err := tr.nodes[0].Invite(t.Context(), "n4", "", time.Hour)
	require.NoError(t, err)
	all, err := tr.nodes[(tr.leader()+1)%3].Authorities().Rotate(t.Context(), 20*time.Second)
	require.NoError(t, err)
	require.Len(t, all, 1, "the change completes while all nodes are up")
	second := tr.waitSoleAuthority()
	require.Equal(t, all[0].ID, second)
	require.NotEqual(t, first, second)
	require.WithinDuration(t, time.Now(), all[0].Made, time.Minute)

	// A token made before the change is refused, and the error names the reason.
	c := networked(t, "", "n4")
	c.Bootstrap = false
	require.ErrorContains(t, tr.joinBy(t.Context(), c, token), "authority was changed")
	token, _, err = tr.nodes[0].Invite(t.Context(), "n4", "", time.Hour)
	require.NoError(t, err)
	require.NoError(t, tr.joinBy(t.Context(), c, token))
	for i := range tr.nodes {
		tr.restart(i) // every connection uses a new certificate
	}
	tr.nodes, tr.confs = append(tr.nodes, open(t, c)), append(tr.confs, c)
	tr.settle(4)
	tr.requireSameState()
}

// TestJoinByAClock: a joining node checks the certificate of the node that answers
// against its own clock, as it does after it has joined.
func TestJoinByAClock(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	for _, c := range clocks {
		c.skip(48 * time.Hour)
	}
	_, err := tr.nodes[tr.leader()].Authorities().Rotate(t.Context(), 20*time.Second) // issue new certificates
	require.NoError(t, err)
	tr.waitSoleAuthority()
	token, _, err := tr.nodes[0].Invite(t.Context(), "n4", "", time.Hour)
	require.NoError(t, err)
	c := networked(t, "", "n4")
	c.Bootstrap = false
	require.ErrorContains(t, tr.joinBy(t.Context(), c, token), "is not valid by this node's clock")
	clocks[0].set(&c)
	require.NoError(t, tr.joinBy(t.Context(), c, token))
	tr.nodes, tr.confs = append(tr.nodes, open(t, c)), append(tr.confs, c)
	tr.settle(4)
	tr.requireSameState()
}

// TestChangeOfTheAuthorityWaits: a change of the authority waits for a node that is down.
// Otherwise that node would accept no certificate after its restart.
func TestChangeOfTheAuthorityWaits(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	first := tr.waitSoleAuthority()
	i := tr.leader()
	down := (i + 1) % 3
	shut(t, tr.nodes[down])
	require.Eventually(t, func() bool { return cluster.SilentMembers(tr.nodes[i]) == 1 }, 20*time.Second, time.Millisecond)
	begun := time.Now()
	all, err := tr.nodes[i].Authorities().Rotate(t.Context(), time.Minute)
	require.NoError(t, err)
	require.Less(t, time.Since(begun), 20*time.Second, "Rotate does not block on a node that is down")
	require.Equal(t, []string{tr.confs[down].Name}, all[1].Waits, "the change waits only for the node that is down")
	require.Len(t, all, 2)
	require.Equal(t, first, all[0].ID, "the old authority still signs")
	require.Equal(t, cluster.AuthorityAnnounced, all[1].State)
	require.Contains(t, all[1].Waits, tr.confs[down].Name)
	_, err = tr.nodes[i].Authorities().Rotate(t.Context(), time.Second)
	var refused *member.RefusedError
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, tr.confs[down].Name)

	// Both running nodes know the new authority. A token made now works.
	other := (i + 2) % 3
	require.Eventually(t, func() bool {
		return len(tr.nodes[i].Authorities().List()[1].Waits) == 1
	}, 20*time.Second, 10*time.Millisecond)
	tr.restart(other)
	require.Eventually(t, func() bool { return tr.nodes[other].Ready(t.Context()) == nil }, 20*time.Second, 10*time.Millisecond)
	tr.start(down)
	require.NotEqual(t, first, tr.waitSoleAuthority())
	tr.settle(3)
}

// TestChangeOfTheAuthorityGoesOnWithoutARemovedNode: removing a node whose key may be
// known to others is a main reason to change the authority.
func TestChangeOfTheAuthorityGoesOnWithoutARemovedNode(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	first := tr.waitSoleAuthority()
	i := tr.leader()
	suspect := (i + 1) % 3
	shut(t, tr.nodes[suspect])
	_, err := tr.nodes[i].Authorities().Rotate(t.Context(), 100*time.Millisecond)
	require.NoError(t, err)
	require.NoError(t, tr.nodes[i].Remove(t.Context(), tr.confs[suspect].Name, false))
	tr.nodes[suspect] = tr.nodes[i]
	require.NotEqual(t, first, tr.waitSoleAuthority())
}

// TestChangesOfTheAuthorityWhileNodesRestart: a node that restarts at any point of a
// change still accepts the certificates of the other nodes.
func TestChangesOfTheAuthorityWhileNodesRestart(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	last := tr.waitSoleAuthority()
	var rotating sync.WaitGroup
	for round := range 4 {
		n := tr.nodes[round%3]
		rotating.Go(func() { _, _ = n.Authorities().Rotate(context.Background(), 5*time.Second) })
		for k := range 2 {
			tr.restart((round + 1 + k) % 3)
		}
		rotating.Wait()
		id := tr.waitSoleAuthority()
		require.NotEqual(t, last, id, "round %d", round)
		last = id
		tr.settle(3)
	}
	tr.requireSameState()
}

// keyedSecrets is a cluster.Secrets of several keys, named by one letter each.
type keyedSecrets struct {
	mu   sync.Mutex // guards keys
	keys string     // the first key seals
}

var errWrongKey = errors.New("another key")

func openedBy(keys string) func(string, []byte) ([]byte, error) {
	return func(context string, b []byte) ([]byte, error) {
		if bytes.IndexByte([]byte(keys), b[0]) < 0 || int(b[1]) != len(context) {
			return nil, errWrongKey
		}
		return b[2:], nil
	}
}

func (l *keyedSecrets) get() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keys
}

func (l *keyedSecrets) set(keys string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys = keys
}

func (l *keyedSecrets) Seal(context string, b []byte) ([]byte, error) {
	return append([]byte{l.get()[0], byte(len(context))}, b...), nil
}

func (l *keyedSecrets) Open(context string, b []byte) ([]byte, error) {
	return openedBy(l.get())(context, b)
}

// TestNodeWithoutTheNewKey: a node that was down while the authority was rewrapped starts
// with the old key, restarts, and receives the new key later.
func TestNodeWithoutTheNewKey(t *testing.T) {
	t.Parallel()
	locked := []*keyedSecrets{{keys: "a"}, {keys: "a"}, {keys: "a"}}
	next := 0
	tr := newCluster3(t, func(c *cluster.Config) { c.Secrets, next = locked[next], next+1 })
	i := tr.leader()
	down := (i + 1) % 3
	shut(t, tr.nodes[down])
	require.True(t, tr.nodes[i].Authorities().CanOpen(openedBy("a")))
	for j := range locked {
		if j != down {
			locked[j].set("ab")
		}
	}
	require.NoError(t, tr.nodes[i].Authorities().Rewrap(t.Context(), &keyedSecrets{keys: "b"}))
	sealed, _ := tr.nodes[i].Checksum()
	require.NoError(t, tr.nodes[i].Authorities().Rewrap(t.Context(), &keyedSecrets{keys: "b"}))
	again, _ := tr.nodes[i].Checksum()
	require.Equal(t, sealed, again, "a second rewrap changes nothing")
	up := []int{i, (i + 2) % 3}
	for _, j := range up {
		require.Eventually(t, func() bool {
			return tr.nodes[j].Authorities().CanOpen(openedBy("b"))
		}, 20*time.Second, 10*time.Millisecond)
		require.False(t, tr.nodes[j].Authorities().CanOpen(openedBy("a")))
		locked[j].set("b")
	}
	tr.start(down)
	tr.settle(3)
	tr.restart(down)
	tr.settle(3)
	require.False(t, tr.nodes[down].Authorities().CanOpen(openedBy("b")), "the node keeps the copy that its key opens")
	// A node that has only the old key still follows a change of the authority.
	_, err := tr.nodes[i].Authorities().Rotate(t.Context(), 100*time.Millisecond)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		all := tr.nodes[i].Authorities().List()
		return len(all) == 2 && all[0].Waits == nil && all[1].State == cluster.AuthorityRetiring &&
			len(all[1].Waits) == 1 && all[1].Waits[0] == tr.confs[down].Name
	}, 20*time.Second, 10*time.Millisecond, "the old authority stays because the node's certificates are from it")
	tr.restart(down)
	locked[down].set("ba")
	id := tr.waitSoleAuthority()
	require.Eventually(t, func() bool {
		return tr.nodes[down].Authorities().CanOpen(openedBy("b"))
	}, 20*time.Second, 10*time.Millisecond)
	locked[down].set("b")
	tr.restart(down)
	tr.settle(3)
	require.Equal(t, id, tr.waitSoleAuthority())
}

func TestDistributeAndFetchSecrets(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	had := make(map[string][]string)
	refusal := make(map[string]error)
	tr := newCluster3(t, func(c *cluster.Config) {
		name := c.Name
		c.ReceiveSecret = func(secret []byte) error {
			mu.Lock()
			defer mu.Unlock()
			if refusal[name] == nil {
				had[name] = append(had[name], string(secret))
			}
			return refusal[name]
		}
		c.SecretByName = func(wanted string) ([]byte, error) {
			if wanted != "of "+name {
				return nil, errors.New("not here")
			}
			return []byte("secret " + wanted), nil
		}
	})
	ctx := t.Context()
	require.NoError(t, tr.nodes[0].Secrets().Distribute(ctx, nil))
	require.NoError(t, tr.nodes[0].Secrets().Distribute(ctx, []byte("x")))
	mu.Lock()
	require.Equal(t, map[string][]string{"n2": {"", "x"}, "n3": {"", "x"}}, had)
	refusal["n2"] = errors.New("there is no room")
	mu.Unlock()
	for _, name := range []string{"of n2", "of n3"} {
		got, err := tr.nodes[0].Secrets().Fetch(ctx, name)
		require.NoError(t, err)
		require.Equal(t, "secret "+name, string(got))
	}
	_, err := tr.nodes[0].Secrets().Fetch(ctx, "of n1")
	require.ErrorIs(t, err, cluster.ErrNoSecret)

	shut(t, tr.nodes[2])
	err = tr.nodes[0].Secrets().Distribute(ctx, []byte("y"))
	var failed *cluster.DistributeError
	require.ErrorAs(t, err, &failed)
	require.Len(t, failed.Failures, 2)
	require.Equal(t, cluster.DistributeFailure{ID: tr.nodes[1].ID(), Name: "n2", Voter: true, Reason: "there is no room"}, failed.Failures[0])
	require.Equal(t, "n3", failed.Failures[1].Name)
	require.True(t, failed.Failures[1].Unreachable)
	_, err = tr.nodes[0].Secrets().Fetch(ctx, "of n1")
	require.ErrorIs(t, err, cluster.ErrUnavailable, "n3 is down and may have the secret")

	// A removed member receives no secret once the removal is decided.
	require.NoError(t, tr.nodes[1].Remove(ctx, "n3", false))
	require.ErrorAs(t, tr.nodes[0].Secrets().Distribute(ctx, []byte("z")), &failed)
	require.Len(t, failed.Failures, 1)
}
