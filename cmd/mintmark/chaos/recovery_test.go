package chaos

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// TestRecovery loses two of three nodes permanently. The remaining one continues alone
// with everything that it had acknowledged, and the cluster grows again.
func TestRecovery(t *testing.T) {
	c := newCluster3(t, build(t))
	w := newEnv(t, c)
	l := startChains(w)
	require.True(t, testkit.Until(maxStart, func() bool { return w.h.written(0) >= minWrites }))
	l.end()
	w.finalCheck(l)
	require.NoError(t, w.requireSameState(), "all nodes have everything acknowledged")

	survivor := c.any()
	for _, n := range c.all() {
		if n == survivor {
			continue
		}
		n.Release()
		w.removeNode(n)
	}
	require.True(t, testkit.Until(eventually, func() bool { return !survivor.Ready() }), "a node without a majority is not ready")
	require.NotEqual(t, exitOK, survivor.run("cluster", "recover", "--yes").Code, "refused while the node runs")
	require.NoError(t, survivor.Process().Stop(syscall.SIGTERM, 2*maxRequestTime))
	require.NotEqual(t, exitOK, survivor.run("cluster", "recover").Code, "refused without --yes")
	survivor.Must("", "cluster", "recover", "--yes")
	require.NoError(t, survivor.start())
	c.requireReady(survivor)
	require.Equal(t, []string{survivor.Name}, survivor.memberNames(t))

	alone := w.c.now()
	l2 := startChains(w)
	require.True(t, testkit.Until(maxStart, func() bool { return w.h.written(alone) >= minWrites }), "the node writes alone")
	for _, name := range []string{"new1", "new2"} {
		n := c.add(name)
		c.invite(n, "cluster", "invite", "--name", name)
		require.NoError(t, n.start())
		c.requireReady(n)
	}
	require.True(t, testkit.Until(eventually, func() bool { return len(c.voters()) == nodes }), "all are voters")
	l2.end()
	l2.grants = append(l2.grants, l.grants...)
	w.finalCheck(l2)
	require.NoError(t, w.requireSameState())
	s := newSummary()
	r := w.judge()
	s.violations, s.reports = append(r.violations, w.scan()...), []report{r}
	s.print(t)
}

// TestRecoveryOfASurvivorThatLagged: clients refresh at two nodes while the third lags.
// The two are lost, and the third is recovered. No client is signed out, a stolen token
// still ends its grant, and what was revoked meanwhile stays revoked.
func TestRecoveryOfASurvivorThatLagged(t *testing.T) {
	c := newCluster3(t, build(t))
	w := newEnv(t, c)
	l := startChains(w)
	require.True(t, testkit.Until(maxStart, func() bool { return w.h.written(0) >= 12*minWrites }))
	l.end()
	w.finalCheck(l)
	require.NoError(t, w.requireSameState(), "all nodes have everything acknowledged")

	survivor := c.any()
	require.NoError(t, survivor.Process().Stop(syscall.SIGTERM, 2*maxRequestTime))
	c.forget(survivor)
	lost := c.all()
	require.True(t, testkit.Until(maxStart, func() bool { return lost[0].Ready() && lost[1].Ready() }))
	live := l.goOn(l.grants, 4)
	require.GreaterOrEqual(t, len(live), chains, "there are live grants")
	revoked, live := live[:len(live)/4], live[len(live)/4:]
	a := newApplication(w)
	for _, g := range revoked {
		l.revoke(context.Background(), a, g)
		require.True(t, g.ended)
	}
	recover := []string{"cluster", "recover", "--yes"}
	for _, n := range lost {
		require.NoError(t, n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime))
		w.removeNode(n)
		recover = append(recover, "--journal", n.Dir)
	}
	survivor.Must("", recover...)
	w.h.recovered(survivor.Name, c.now(), l.grants)
	c.mu.Lock()
	c.nodes = append(c.nodes, survivor)
	c.mu.Unlock()
	require.NoError(t, survivor.start())
	c.requireReady(survivor)

	require.Len(t, l.goOn(live, 4), len(live), "no client is signed out")
	for _, g := range revoked {
		l.everywhere(context.Background(), a, g)
	}
	for _, g := range live[:len(live)/2] {
		l.reuseToken(context.Background(), a, g)
	}
	s := newSummary()
	r := w.judge()
	s.violations, s.reports = append(r.violations, w.scan()...), []report{r}
	s.print(t)
}

// goOn refreshes some grants a few times, and returns those that still work.
func (l *load) goOn(grants []*grant, most int) (live []*grant) {
	var mu sync.Mutex // guards live
	var all sync.WaitGroup
	for i, g := range grants {
		if len(g.tokens) < 2 || g.ended {
			continue
		}
		all.Go(func() {
			a := newApplication(l.env)
			defer a.http.CloseIdleConnections()
			for range 1 + i%most {
				if !l.step(context.Background(), a, g, g.secret) {
					return
				}
			}
			mu.Lock()
			live = append(live, g)
			mu.Unlock()
		})
	}
	all.Wait()
	return live
}

// recovered records for each grant the token with which its client continues.
func (h *history) recovered(node string, at time.Duration, grants []*grant) {
	for _, g := range grants {
		if len(g.tokens) > 1 {
			h.begin(node)
			h.end(op{Kind: recovery, Node: node, Start: at, End: at, Class: ok, Grant: g.id, Gen: g.gen()})
		}
	}
}
