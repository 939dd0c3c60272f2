package chaos

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// someGrants is the number of grants that must survive changes of the clocks.
const someGrants = 18

// connected returns someGrants grants whose codes have been exchanged.
func (w *env) connected() []*grant {
	w.t.Helper()
	list := w.codes(someGrants)
	require.Len(w.t, list, someGrants)
	a := newApplication(w)
	for _, g := range list {
		o, next := a.exchange(context.Background(), w.c.any(), g, false)
		require.Equal(w.t, ok, o.Class, "%s", o)
		g.tokens = append(g.tokens, next)
	}
	return list
}

// requireAlive refreshes all grants. Each refresh must succeed, and no new token may
// be ahead of the clocks.
func (w *env) requireAlive(list []*grant) {
	w.t.Helper()
	w.c.requireReady(w.c.all()...)
	a := newApplication(w)
	for _, g := range list {
		var o op
		var next string
		require.True(w.t, testkit.Until(maxStart, func() bool {
			o, next = a.refresh(context.Background(), w.c.any(), g, g.gen(), g.secret)
			return o.Class == ok || o.Class == refused
		}), "%s", o)
		require.Equal(w.t, ok, o.Class, "%s", o)
		g.tokens = append(g.tokens, next)
	}
	r := w.judge()
	require.Empty(w.t, r.violations)
	require.Empty(w.t, r.late)
	if !w.c.single {
		require.Equal(w.t, exitOK, w.c.any().run("cluster", "status").Code, "the cluster is healthy")
	}
}

// stepClocks moves the clocks of nodes by an offset and back. Some clients refresh
// meanwhile.
func (w *env) stepClocks(list []*grant, nodes []*node, by, lasts time.Duration) {
	w.t.Helper()
	for _, n := range nodes {
		require.NoError(w.t, w.setClock(n, by))
	}
	a, end := newApplication(w), time.Now().Add(lasts)
	for i := 0; time.Now().Before(end); i++ {
		g := list[i%len(list)]
		if o, next := a.refresh(context.Background(), w.c.any(), g, g.gen(), g.secret); o.Class == ok {
			g.tokens = append(g.tokens, next)
		}
		backOff(context.Background())
	}
	for _, n := range nodes {
		require.NoError(w.t, w.setClock(n, 0))
	}
}

// TestClocksJumpTogether: if the clocks of two or three nodes jump for some seconds, no
// grant ends, and the cluster recovers without an operator.
func TestClocksJumpTogether(t *testing.T) {
	w := newEnv(t, newCluster3(t, build(t)))
	list := w.connected()
	for _, by := range []time.Duration{days400, 2 * time.Hour, -2 * time.Hour} {
		leader := w.c.leader()
		require.NotNil(t, leader)
		for _, nodes := range [][]*node{{leader, w.c.anyBut(leader)}, w.c.all()} {
			t.Logf("%d by %s", len(nodes), by)
			w.stepClocks(list, nodes, by, 3*time.Second)
			w.requireAlive(list)
		}
	}
}

// TestClocksStayElsewhere: if all clocks have jumped and stay there, no node is ready
// before an operator accepts the clocks.
func TestClocksStayElsewhere(t *testing.T) {
	w := newEnv(t, newCluster3(t, build(t)))
	list := w.connected()
	w.recordClockStep(2 * time.Hour)
	for _, n := range w.c.all() {
		require.NoError(t, w.setClock(n, 0))
	}
	for _, n := range w.c.all() {
		require.True(t, testkit.Until(eventually, func() bool { return !n.Ready() }), "%s waits", n.Name)
	}
	for _, n := range w.c.all() {
		require.NotEqual(t, exitOK, n.run("cluster", "status").Code, n.Name)
	}
	for _, n := range w.c.all() { // the first two may have confirmed the last one already
		n.Must("", "cluster", "accept-clock")
	}
	w.requireAlive(list)
}

// TestStartsWithAWrongClock: if a single node, a node of mintmark dev, or three nodes
// at once start with a wrong clock, no grant ends, and they recover without an operator.
func TestStartsWithAWrongClock(t *testing.T) {
	binary := build(t)
	for name, c := range map[string]func(testing.TB) *cluster{
		"one":   func(t testing.TB) *cluster { return newCluster(t, binary, 1) },
		"three": func(t testing.TB) *cluster { return newCluster(t, binary, nodes) },
		"dev":   func(t testing.TB) *cluster { return newDev(t, binary) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, c(t))
			list := w.connected()
			for _, n := range w.c.all() {
				require.NoError(t, n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime))
				require.NoError(t, w.setClock(n, days400))
			}
			for _, n := range w.c.all() {
				require.NoError(t, n.start())
				require.True(t, testkit.Until(eventually, n.Alive))
			}
			w.stepClocks(list, w.c.all(), days400, 4*time.Second)
			w.requireAlive(list)
		})
	}
}

// TestStartAcceptedByAnOperator: a node that starts with a doubtful clock waits until an
// operator accepts it.
func TestStartAcceptedByAnOperator(t *testing.T) {
	for _, count := range []int{1, nodes} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			w := newEnv(t, newCluster(t, build(t), count))
			list := w.connected()
			for _, n := range w.c.all() {
				require.NoError(t, n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime))
			}
			w.recordClockStep(time.Hour)
			for _, n := range w.c.all() {
				require.NoError(t, w.setClock(n, 0))
				require.NoError(t, n.start())
				require.True(t, testkit.Until(eventually, n.Alive))
			}
			for _, n := range w.c.all() {
				var a testkit.Result
				require.True(t, testkit.Until(eventually, func() bool {
					a = n.run("cluster", "accept-clock")
					return a.Code == exitOK
				}), "%s", a.Err)
			}
			w.requireAlive(list)
		})
	}
}
