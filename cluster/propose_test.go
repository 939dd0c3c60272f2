package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

func TestProposeLogsNoRefusal(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Value: 1})
	require.NoError(t, err)
	last := n.Raft().LastIndex()
	for range 10_000 {
		r, at, err := proposeRaise(t.Context(), n, "a", 7)
		require.NoError(t, err)
		require.Equal(t, machinetest.Raised{Value: 1}, r)
		require.Equal(t, index, at)
	}
	require.Equal(t, uint64(1), n.Seq())
	require.Equal(t, last, n.Raft().LastIndex(), "no log entry of any kind")
}

func TestConfirmFreshRefusalsShareBarriers(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Value: 1})
	require.NoError(t, err)
	const callers, each = 100, 100
	before := n.Barriers().Passed()
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				v, _, err := n.Propose(t.Context(), &machinetest.Raise{Name: "a", Known: 7, ConfirmFresh: true})
				if err != nil || v.(machinetest.Raised).OK {
					t.Errorf("%v, %v", v, err)
				}
			}
		})
	}
	wg.Wait()
	passed := n.Barriers().Passed() - before
	require.Equal(t, uint64(1), n.Seq(), "no command was logged")
	// The callers share Barriers: each caller needs one for each of its refusals, and
	// together they need far fewer than the number of refusals.
	require.GreaterOrEqual(t, passed, uint64(each))
	require.LessOrEqual(t, passed, uint64(callers*each/5))
}

// TestConfirmFreshRefusalIsDecidedOnFreshView: a write that is acknowledged but not yet
// applied on this node turns the refusal into a success.
func TestConfirmFreshRefusalIsDecidedOnFreshView(t *testing.T) {
	t.Parallel()
	gate := newGate()
	n := open(t, cluster.WithHooks(config(t, ""), cluster.Hooks{FSM: gate.pass}))
	gate.shut()
	wrote := make(chan error, 1)
	go func() {
		_, _, err := n.Propose(context.Background(), &machinetest.Set{Name: "a", Value: 7})
		wrote <- err
	}()
	gate.waitBlocked(t) // committed, not applied
	raise7 := make(chan any, 1)
	go func() {
		v, _, _ := n.Propose(context.Background(), &machinetest.Raise{Name: "a", Known: 7, ConfirmFresh: true})
		raise7 <- v
	}()
	r, _, err := proposeRaise(t.Context(), n, "a", 7)
	require.NoError(t, err)
	require.False(t, r.OK, "a refusal without ConfirmFresh is answered at once")
	select {
	case v := <-raise7:
		t.Fatalf("answered %v before the view was fresh", v)
	default:
	}
	gate.open()
	require.NoError(t, <-wrote)
	require.Equal(t, machinetest.Raised{OK: true, Value: 8}, <-raise7)
}

func TestProposeToAFullQueue(t *testing.T) {
	t.Parallel()
	gate := newGate()
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{FSM: gate.pass})
	c.QueueSize = 4
	c.QueueTimeout = 20 * time.Second
	n := open(t, c)
	gate.shut()
	const callers = 40
	results := make(chan error, callers)
	for i := range callers {
		go func() {
			_, _, err := n.Propose(context.Background(), &machinetest.Set{Name: fmt.Sprint(i)})
			results <- err
		}()
		if i == 0 {
			gate.waitBlocked(t)
		}
	}
	// One command is being applied, at most five are in the second entry, and four wait
	// in the queue.
	const accepted = 10
	refused := 0
	for range callers - accepted {
		require.ErrorIs(t, <-results, cluster.ErrUnavailable, "refused at once")
		refused++
	}
	gate.open()
	for range accepted {
		if err := <-results; err != nil {
			require.ErrorIs(t, err, cluster.ErrUnavailable)
			refused++
		}
	}
	require.Equal(t, uint64(callers-refused), n.Seq(), "every command that was not refused was applied")
}

// TestProposeOnAStalledDisk: a command that was not proposed is refused soon, and one that is under
// way at its deadline has an unknown outcome. Neither waits for the disk.
func TestProposeOnAStalledDisk(t *testing.T) {
	t.Parallel()
	gate := newGate()
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{
		Logs: func(l raft.LogStore) raft.LogStore { return &stallingLogs{l, gate} },
	})
	c.QueueTimeout, c.ProposeTimeout = 100*time.Millisecond, 500*time.Millisecond
	n := open(t, c)
	gate.shut()
	defer gate.open()
	first := make(chan error, 1)
	go func() {
		_, _, err := n.Propose(context.Background(), &machinetest.Set{Name: "a"})
		first <- err
	}()
	gate.waitBlocked(t)
	for range 5 {
		_, _, err := n.Propose(context.Background(), &machinetest.Set{Name: "b"})
		require.ErrorIs(t, err, cluster.ErrUnavailable)
	}
	require.ErrorIs(t, <-first, cluster.ErrUnknown)
	require.ErrorIs(t, n.Ready(context.Background()), cluster.ErrUnavailable)
}

// TestProposeToAStalledMachine: while the maximum number of entries is in flight, a command waits
// in the queue no longer than QueueTimeout.
func TestProposeToAStalledMachine(t *testing.T) {
	t.Parallel()
	gate := newGate()
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{FSM: gate.pass})
	c.QueueTimeout, c.LeaderTimeout, c.ProposeTimeout = 50*time.Millisecond, 50*time.Millisecond, time.Hour
	n := open(t, c)
	gate.shut()
	answers := make(chan error, cluster.MaxEntriesInFlight)
	for range cluster.MaxEntriesInFlight {
		last := n.Raft().LastIndex()
		go func() {
			_, _, err := n.Propose(context.Background(), &machinetest.Set{Name: "a"})
			answers <- err
		}()
		require.Eventually(t, func() bool { return n.Raft().LastIndex() > last }, 10*time.Second, time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, _, err := n.Propose(ctx, &machinetest.Set{Name: "b"})
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	_, _, err = n.Propose(ctx, &machinetest.Raise{Name: "none", Known: 7, ConfirmFresh: true})
	require.ErrorIs(t, err, cluster.ErrUnavailable, "a refusal that waits for a Barrier also times out")
	require.NoError(t, ctx.Err(), "the commands were refused before the caller's deadline")
	gate.open()
	for range cluster.MaxEntriesInFlight {
		require.NoError(t, <-answers)
	}
	_, err = n.ViewFresh(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(cluster.MaxEntriesInFlight), n.Seq(), "a withdrawn command was not applied")
}

// TestProposeWithLittlePatienceLeft: a command that has already waited for a leader times out in
// the queue before a new command that entered the queue earlier.
func TestProposeWithLittlePatienceLeft(t *testing.T) {
	t.Parallel()
	gate := newGate()
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{FSM: gate.pass})
	c.QueueTimeout, c.ProposeTimeout = 8*time.Second, time.Hour
	n := open(t, c)
	gate.shut()
	defer gate.open()
	for range cluster.MaxEntriesInFlight {
		last := n.Raft().LastIndex()
		go func() { _, _, _ = n.Propose(t.Context(), &machinetest.Set{Name: "a"}) }()
		require.Eventually(t, func() bool { return n.Raft().LastIndex() > last }, 10*time.Second, time.Millisecond)
	}
	fresh := make(chan error, 1)
	go func() {
		_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "b"})
		fresh <- err
	}()
	require.Eventually(t, func() bool { return n.Stats().Queue == 1 }, 10*time.Second, time.Millisecond)
	require.EqualValues(t, transport.ReplyUnavailable, cluster.ServeProposal(n, &machinetest.Set{Name: "c"}, command.ID{1}, true, 10*time.Second))
	select {
	case err := <-fresh:
		t.Fatal("answered first:", err)
	default:
	}
}

func TestProposeUntilTheContextEnds(t *testing.T) {
	t.Parallel()
	gate := newGate()
	n := open(t, cluster.WithHooks(config(t, ""), cluster.Hooks{FSM: gate.pass}))
	gate.shut()
	var wg sync.WaitGroup
	var unknown, unavailable atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	const callers = 8
	for i := range callers {
		wg.Go(func() {
			_, _, err := n.Propose(ctx, &machinetest.Set{Name: fmt.Sprint(i)})
			switch {
			case errors.Is(err, cluster.ErrUnknown):
				unknown.Add(1)
			case errors.Is(err, cluster.ErrUnavailable):
				unavailable.Add(1)
			}
			if errors.Is(err, cluster.ErrUnknown) == errors.Is(err, cluster.ErrUnavailable) {
				t.Errorf("want exactly one of ErrUnknown and ErrUnavailable: %v", err)
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the cause is the context: %v", err)
			}
		})
	}
	gate.waitBlocked(t)
	cancel()
	wg.Wait()
	require.Positive(t, unknown.Load())
	require.Equal(t, int64(callers), unknown.Load()+unavailable.Load())
	gate.open()
	_, err := n.ViewFresh(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, n.Seq(), uint64(0))
	require.LessOrEqual(t, n.Seq(), uint64(unknown.Load()), "a command answered with ErrUnavailable was not proposed")
}

// brokenApply is raft.Apply that fails a number of times, before or after it has written
// the entry to the log.
type brokenApply struct {
	failures atomic.Int64
	after    bool
	err      error
}

func (b *brokenApply) apply(r *raft.Raft, entry []byte) raft.ApplyFuture {
	if b.failures.Add(-1) < 0 {
		return r.Apply(entry, time.Second)
	}
	if b.after {
		if err := r.Apply(entry, time.Second).Error(); err != nil {
			return failedApply{err: err}
		}
	}
	return failedApply{err: b.err}
}

type failedApply struct {
	raft.ApplyFuture
	err error
}

func (f failedApply) Error() error { return f.err }

func TestUnknownFateIsProposedAgain(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for _, fail := range []error{raft.ErrLeadershipLost, raft.ErrAbortedByRestore, errors.New("disk")} {
			t.Run(fmt.Sprintf("%v, applied=%v", fail, after), func(t *testing.T) {
				b := &brokenApply{after: after, err: fail}
				n := open(t, cluster.WithHooks(config(t, ""), cluster.Hooks{Apply: b.apply}))
				b.failures.Store(3)
				r, index, err := proposeRaise(t.Context(), n, "a", 0)
				require.NoError(t, err)
				require.Equal(t, machinetest.Raised{OK: true, Value: 1, Again: true}, r, "the same answer, marked")
				txn, err := n.ViewAt(t.Context(), index)
				require.NoError(t, err)
				require.Equal(t, uint64(1), machinetest.Find(txn, "a").Value, "raised once")
			})
		}
	}
}

// TestUnknownFateIsProposedUntilKnown: once a command may be in the log, an attempt that
// certainly did not enter the log is followed by another one.
func TestUnknownFateIsProposedUntilKnown(t *testing.T) {
	t.Parallel()
	fails := []error{raft.ErrLeadershipLost, raft.ErrEnqueueTimeout, raft.ErrNotLeader}
	var calls atomic.Int64
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{Apply: func(r *raft.Raft, entry []byte) raft.ApplyFuture {
		if i := int(calls.Add(1)) - 1; i < len(fails) {
			return failedApply{err: fails[i]}
		}
		return r.Apply(entry, time.Second)
	}})
	n := open(t, c)
	r, _, err := proposeRaise(t.Context(), n, "a", 0)
	require.NoError(t, err)
	require.Equal(t, machinetest.Raised{OK: true, Value: 1, Again: true}, r)
	require.EqualValues(t, len(fails)+1, calls.Load())
}

func TestUnknownFateIsProposedUntilTheEnd(t *testing.T) {
	t.Parallel()
	b := &brokenApply{err: raft.ErrLeadershipLost}
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{Apply: b.apply})
	c.ProposeTimeout = 100 * time.Millisecond
	n := open(t, c)
	b.failures.Store(1 << 40)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.ErrorIs(t, err, cluster.ErrUnknown)
	require.NotErrorIs(t, err, cluster.ErrUnavailable)
}

func TestCertainFailureIsNotProposedAgain(t *testing.T) {
	t.Parallel()
	b := &brokenApply{err: raft.ErrEnqueueTimeout}
	n := open(t, cluster.WithHooks(config(t, ""), cluster.Hooks{Apply: b.apply}))
	b.failures.Store(1)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	require.NotErrorIs(t, err, cluster.ErrUnknown)
	require.Zero(t, n.Seq())
}

// TestProposeWhileLeadershipMoves: a command that certainly did not enter the log waits for the
// next leader for a limited time. It is not marked as proposed again.
func TestProposeWhileLeadershipMoves(t *testing.T) {
	t.Parallel()
	for _, fail := range []error{raft.ErrNotLeader, raft.ErrLeadershipTransferInProgress} {
		b := &brokenApply{err: fail}
		c := cluster.WithHooks(config(t, ""), cluster.Hooks{Apply: b.apply})
		c.LeaderTimeout = 50 * time.Millisecond
		n := open(t, c)
		b.failures.Store(2)
		r, _, err := proposeRaise(t.Context(), n, "a", 0)
		require.NoError(t, err)
		require.Equal(t, machinetest.Raised{OK: true, Value: 1}, r)

		b.failures.Store(1 << 40)
		_, _, err = n.Propose(t.Context(), &machinetest.Set{Name: "a"})
		require.ErrorIs(t, err, cluster.ErrUnavailable)
		require.NotErrorIs(t, err, cluster.ErrUnknown)
		require.Equal(t, uint64(1), n.Seq())
	}
}

// TestProposeReportsSoonThatNothingWasSent: when nothing was sent yet, a caller does not have to
// wait until the connection to the leader fails on a network that drops all packets.
func TestProposeReportsSoonThatNothingWasSent(t *testing.T) {
	t.Parallel()
	l := newLinks()
	tr := newCluster3(t, func(c *cluster.Config) {
		l.redirect(t, c)
		c.LeaderTimeout = 100 * time.Millisecond
	})
	i := tr.leader()
	j := (i + 1) % 3
	_, _, err := tr.nodes[j].Propose(t.Context(), &machinetest.Set{Name: "before"})
	require.NoError(t, err)
	l.swallow([2]string{tr.confs[j].Name, tr.confs[i].Name})
	_, _, err = tr.nodes[j].Propose(t.Context(), &machinetest.Set{Name: "during"})
	require.Empty(t, l.gaveUp, "it waited for the connection to fail")
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	require.NotErrorIs(t, err, cluster.ErrUnknown)
}

// TestProposeFailsAfterUnknown: once a command may be in the log, a later
// certain failure does not make it certain.
func TestProposeFailsAfterUnknown(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{Apply: func(*raft.Raft, []byte) raft.ApplyFuture {
		if calls.Add(1) == 1 {
			return failedApply{err: raft.ErrLeadershipLost}
		}
		return failedApply{err: raft.ErrNotLeader}
	}})
	c.ProposeTimeout = 100 * time.Millisecond
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.ErrorIs(t, err, cluster.ErrUnknown)
	require.NotErrorIs(t, err, cluster.ErrUnavailable)
	require.Greater(t, calls.Load(), int64(1))
}

// encodeOnceCommand fails when it is encoded a second time.
type encodeOnceCommand struct {
	machinetest.Set
	encoded *int
}

func (f *encodeOnceCommand) MarshalCBOR() ([]byte, error) {
	if *f.encoded++; *f.encoded > 1 {
		return nil, errors.New("fickle")
	}
	return machinetest.Encode(&f.Set), nil
}

// TestProposeFailsInAnyWayAfterUnknown: after an unknown outcome every later failure is
// reported as unknown, also an error in the command itself. The first attempt may have
// been applied, as it was here.
func TestProposeFailsInAnyWayAfterUnknown(t *testing.T) {
	t.Parallel()
	b := &brokenApply{err: raft.ErrLeadershipLost, after: true}
	n := open(t, cluster.WithHooks(config(t, ""), cluster.Hooks{Apply: b.apply}))
	b.failures.Store(1)
	cmd := &encodeOnceCommand{machinetest.Set{Name: "a", Value: 7}, new(int)}
	_, _, err := n.Propose(t.Context(), cmd)
	require.ErrorIs(t, err, cluster.ErrUnknown)
	require.ErrorContains(t, err, "fickle")
	require.Equal(t, 2, *cmd.encoded, "attempts")
	require.NotErrorIs(t, err, cluster.ErrUnavailable)
	require.Equal(t, uint64(7), machinetest.Find(n.View(), "a").Value)
}

func TestProposeBadCommands(t *testing.T) {
	t.Parallel()
	machine := machinetest.Toy()
	delete(machine.Commands, machinetest.KindHint)
	c := config(t, "")
	c.Machine = machine
	n := open(t, c)
	for name, cmd := range map[string]command.Command{
		"kind that is not in the list": &machinetest.Hint{Set: machinetest.Set{Name: "a"}},
		"unknown table":                &machinetest.Set{Name: "a", Table: "nowhere"},
		"own table":                    &machinetest.Set{Name: "a", Table: "cluster"},
		"too many changes":             &machinetest.Set{Name: "a", Times: command.MaxChanges + 1},
		"no value for the index":       &machinetest.Set{},
		"too long":                     &machinetest.Set{Name: "a", Pad: make([]byte, command.MaxBody)},
	} {
		_, _, err := n.Propose(t.Context(), cmd)
		require.Error(t, err, name)
		require.NotErrorIs(t, err, cluster.ErrUnavailable, name)
		require.NotErrorIs(t, err, cluster.ErrUnknown, name)
	}
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Times: command.MaxChanges})
	require.NoError(t, err, "at the limit")
	require.Equal(t, uint64(1), n.Seq())
}

// TestProposeLargeCommands: an entry is closed at its maximum size, and no command
// is lost at the boundary.
func TestProposeLargeCommands(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: fmt.Sprint(i), Pad: make([]byte, 20<<10)})
			if err != nil {
				t.Error(err)
				return
			}
			if size := len(entryAt(t, n, index)); size > 64<<10 {
				t.Errorf("an entry of %d bytes", size)
			}
		})
	}
	wg.Wait()
	require.Equal(t, uint64(100), n.Seq())
}

func TestClockRunsBack(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	now.Store(10_000)
	c := config(t, "")
	c.Now = func() time.Time { return time.UnixMilli(now.Load()) }
	n := open(t, c)
	at := func() int64 {
		v, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
		require.NoError(t, err)
		return v.(command.Meta).At
	}
	require.Equal(t, int64(10_000), at())
	now.Store(4_000)
	require.Equal(t, int64(10_000), at())
	shut(t, n)
	n = open(t, c)
	require.Equal(t, int64(10_000), at(), "after a restart too")
	now.Store(10_001)
	require.Equal(t, int64(10_001), at())
}
