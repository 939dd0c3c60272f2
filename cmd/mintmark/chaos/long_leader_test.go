//go:build long

package chaos

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var steadyFor = flag.Duration("steady", 10*time.Minute, "how long leadership must not change under full load")

// TestJuggledLeadership transfers leadership continuously for a minute.
func TestJuggledLeadership(t *testing.T) {
	s := newSummary()
	s.run(t, newCluster3(t, build(t)), juggled(200*time.Millisecond, time.Minute))
	s.print(t)
	require.Zero(t, s.voids, "%v", s.voidReasons)
}

// TestSteadyLeader checks L4: leadership never changes because of load.
func TestSteadyLeader(t *testing.T) {
	const crowd = 24
	w := newEnv(t, newCluster3(t, build(t)))
	before, err := w.c.status()
	require.NoError(t, err)
	l := startChains(w)
	for i := range crowd {
		l.all.Go(func() { l.chain(l.ctx, w.c.any, steady[i%len(steady)]) })
	}
	began, counted := w.c.now(), 0
	for end := time.Now().Add(*steadyFor); time.Now().Before(end) && !t.Failed(); {
		since := w.c.now()
		time.Sleep(min(5*time.Second, time.Until(end)+time.Millisecond))
		now, err := w.c.status()
		require.NoError(t, err)
		require.Equal(t, before.Term, now.Term, "L4: the term moved after %s", w.c.now()-began)
		require.Equal(t, before.Leader, now.Leader)
		n := w.h.written(since)
		require.GreaterOrEqual(t, n, minWrites, "the load is too small")
		counted += n
	}
	l.end()
	w.finalCheck(l)
	require.NoError(t, w.requireSameState())
	s := newSummary()
	r := w.judge()
	s.violations, s.reports = r.violations, []report{r}
	s.print(t)
	t.Logf("%d writes in %s under one leader", counted, w.c.now()-began)
}
