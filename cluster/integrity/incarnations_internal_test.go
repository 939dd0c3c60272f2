package integrity

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDuplicatesOverlap: two incarnations of a node are duplicates only if they overlap:
// each was seen running before the other ended. Otherwise the node was restarted.
func TestDuplicatesOverlap(t *testing.T) {
	a, b := Incarnation{1, 7}, Incarnation{2, 3}
	type event struct {
		run        Incarnation
		since, now time.Duration // since is -1 if the start of the observation is unknown
	}
	for name, test := range map[string]struct {
		events []event
		two    bool
	}{
		"one":                          {[]event{{a, 1, 2}, {a, 3, 4}}, false},
		"started again":                {[]event{{a, 1, 2}, {a, 3, 4}, {b, -1, 5}, {b, 6, 7}}, false},
		"started again, and late news": {[]event{{a, 1, 2}, {a, 3, 4}, {b, -1, 5}, {b, 6, 7}, {a, 4, 8}, {a, -1, 9}}, false},
		"late news first":              {[]event{{b, -1, 5}, {b, 6, 7}, {a, 4, 8}, {a, -1, 9}}, false},
		"in turns":                     {[]event{{a, 1, 2}, {b, -1, 3}, {a, 4, 5}, {b, 6, 7}}, true},
		"in turns, of unknown age":     {[]event{{a, -1, 2}, {b, -1, 3}, {a, -1, 5}, {b, -1, 7}}, false},
		"one within the other":         {[]event{{a, 1, 2}, {b, -1, 3}, {b, 4, 5}, {a, 6, 7}}, true},
		"one of them once, of unknown age": { // the message may have been delayed
			[]event{{a, 1, 2}, {b, -1, 3}, {a, 6, 7}}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newIncarnations()
			news := 0
			for _, e := range test.events {
				if w.observe("n", e.run, e.since, e.now) {
					news++
				}
			}
			require.Equal(t, test.two, w.hasDuplicate("n"))
			require.Equal(t, test.two, news == 1)
			other, _, ok := w.DuplicateOf("n", b)
			require.Equal(t, test.two, ok)
			if ok {
				require.Equal(t, a, other)
			}
			_, _, ok = w.DuplicateOf("n", Incarnation{9, 9})
			require.False(t, ok, "an unknown incarnation has no duplicate")
			require.False(t, w.hasDuplicate("another"))
		})
	}
	require.Positive(t, b.Compare(a))
	require.Positive(t, Incarnation{2, 4}.Compare(b))
	require.Zero(t, a.Compare(a))
}

// TestManyIncarnationsAreForgotten: the record of a node that restarts again and again is
// bounded.
func TestManyIncarnationsAreForgotten(t *testing.T) {
	w := newIncarnations()
	for i := range 3 * maxObservations {
		now := time.Duration(2 * i)
		require.False(t, w.observe("n", Incarnation{int64(i), 1}, -1, now))
		require.False(t, w.observe("n", Incarnation{int64(i), 1}, now, now+1))
	}
	require.Len(t, w.observed["n"], maxObservations)
}

// TestExitReasonIsOfOneIncarnation: a request that a process sent before it reported its
// exit may arrive after the report and does not clear it. A request of the next
// incarnation does.
func TestExitReasonIsOfOneIncarnation(t *testing.T) {
	r := NewRollbackDetector(nil, newIncarnations())
	require.False(t, r.RecordStatusRequest("n1", Incarnation{Number: 1}, ""))
	require.True(t, r.RecordStatusRequest("n1", Incarnation{Number: 1}, "why"))
	require.False(t, r.RecordStatusRequest("n1", Incarnation{Number: 1}, "why"))
	require.False(t, r.RecordStatusRequest("n1", Incarnation{Number: 1}, ""))
	require.Equal(t, "why", r.copyOf("n1").exitReason)
	require.False(t, r.RecordStatusRequest("n1", Incarnation{Number: 2}, ""))
	require.Empty(t, r.copyOf("n1").exitReason)
}
