package bench

import (
	"maps"
	"math"
	"slices"
	"time"
)

// A Result is what was measured. Latencies are milliseconds.
type Result struct {
	URLs        []string         `json:"urls"`
	Connections int              `json:"connections"`
	Clients     int              `json:"clients"`
	Rate        float64          `json:"rate,omitempty"` // requests a second that were to begin; none for a closed loop
	Seconds     float64          `json:"seconds"`
	Requests    int64            `json:"requests"` // that were answered by 200
	PerSecond   float64          `json:"per_second"`
	Latency     Percentiles      `json:"latency_ms"`
	Failures    map[string]int64 `json:"failures,omitempty"` // by status or error, warm-up included
	Took        []time.Duration  `json:"-"`                  // of each request that was answered, sorted
}

// Percentiles are those of the latency, in milliseconds.
type Percentiles struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99.9"`
	Max  float64 `json:"max"`
}

func (l *Load) result(workers []worker, measured time.Duration) Result {
	r := Result{URLs: l.URLs, Connections: len(workers), Clients: len(l.Clients), Rate: l.Rate, Seconds: max(0, measured.Seconds())}
	for i := range workers {
		r.Took = append(r.Took, workers[i].took...)
		for text, n := range workers[i].failures {
			if r.Failures == nil {
				r.Failures = map[string]int64{}
			}
			r.Failures[text] += n
		}
	}
	r.Requests = int64(len(r.Took))
	if r.Seconds > 0 {
		r.PerSecond = float64(r.Requests) / r.Seconds
	}
	slices.Sort(r.Took)
	r.Latency = Percentiles{percentile(r.Took, 0.5), percentile(r.Took, 0.9), percentile(r.Took, 0.99), percentile(r.Took, 0.999), percentile(r.Took, 1)}
	return r
}

// percentile returns that of a sorted list in milliseconds: the least value that a part p of
// all does not exceed.
func percentile(sorted []time.Duration, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := max(0, int(math.Ceil(float64(len(sorted))*p))-1)
	return float64(sorted[i].Microseconds()) / 1e3
}

// firstFailure is one of the failures.
func (r *Result) firstFailure() string { return slices.Sorted(maps.Keys(r.Failures))[0] }

// Failed is how many requests failed.
func (r *Result) Failed() (n int64) {
	for _, count := range r.Failures {
		n += count
	}
	return n
}
