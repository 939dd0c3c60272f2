package chaos

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecovery loses two nodes of three for good. What is left goes on alone
// with all that it had acknowledged, and grows again.
func TestRecovery(t *testing.T) {
	c := three(t, build(t))
	w := newWorld(t, c)
	l := startChains(w)
	require.True(t, until(starts, func() bool { return w.h.written(0) >= leastWrites }))
	l.end()
	w.lastLook(l)
	require.NoError(t, w.agree(), "all that was acknowledged is everywhere")

	survivor := c.any()
	for _, n := range c.all() {
		if n == survivor {
			continue
		}
		n.release()
		w.dismiss(n)
	}
	require.True(t, until(eventually, func() bool { return !survivor.ready() }), "a node without a majority is not ready")
	require.NotEqual(t, exitOK, survivor.run("cluster", "recover", "--yes").code, "not while it runs")
	require.NoError(t, survivor.process().stop(2*longest))
	require.NotEqual(t, exitOK, survivor.run("cluster", "recover").code, "not without a word")
	survivor.must("cluster", "recover", "--yes")
	require.NoError(t, survivor.start())
	c.requireReady(survivor)
	require.Equal(t, []string{survivor.name}, survivor.members(t))

	alone := w.c.now()
	l2 := startChains(w)
	require.True(t, until(starts, func() bool { return w.h.written(alone) >= leastWrites }), "it writes alone")
	for _, name := range []string{"new1", "new2"} {
		n := c.add(name)
		c.invite(n, "cluster", "invite", "--name", name)
		require.NoError(t, n.start())
		c.requireReady(n)
	}
	require.True(t, until(eventually, func() bool { return len(c.voters()) == nodes }), "all are voters")
	l2.end()
	l2.grants = append(l2.grants, l.grants...)
	w.lastLook(l2)
	require.NoError(t, w.agree())
	s := newSummary()
	r := w.judge()
	s.violations, s.reports = append(r.violations, w.scan()...), []report{r}
	s.print(t)
}
