package transport

import (
	"maps"
	"net"
	"sync"
	"time"
)

// refusals decides which of the rejected connections are logged. A misconfigured peer
// retries every second, for days: the first rejection is logged at once, and later ones
// as a number, at growing intervals. Each address is counted separately, so that a host
// that connects all the time does not hide a member's problem.
type refusals struct {
	mu      sync.Mutex
	sources map[string]*refusedSource // by address without port
}

type refusedSource struct {
	interval   time.Duration // least time between two log records
	logged     time.Time
	last       time.Time
	suppressed int // number that was not logged since
}

const (
	refusalLogInterval    = 10 * time.Second // the first interval, which doubles
	maxRefusalLogInterval = time.Hour
	// refusalExpiry is how long a source must be quiet until its next connection counts
	// as the first.
	refusalExpiry = 2 * maxRefusalLogInterval
	// maxRefusalSources is the number of addresses that are counted separately; all
	// others count as one.
	maxRefusalSources   = 64
	refusalOtherSources = "others"
)

// warn logs a rejected connection if it is due.
func (r *refusals) warn(to func(string, ...any), what string, from net.Addr, why string) {
	if source, times, tell := r.count(from.String(), time.Now()); tell && times > 1 {
		to(what, "from", source, "why", why, "times", times)
	} else if tell {
		to(what, "from", from.String(), "why", why)
	}
}

// count counts a connection from an address. It reports whether to log it, under which
// source, and how many there were since the last record.
func (r *refusals) count(address string, now time.Time) (source string, times int, tell bool) {
	source = address
	if host, _, err := net.SplitHostPort(address); err == nil {
		source = host
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources == nil {
		r.sources = make(map[string]*refusedSource)
	}
	maps.DeleteFunc(r.sources, func(_ string, s *refusedSource) bool { return now.Sub(s.last) > refusalExpiry })
	s := r.sources[source]
	if s == nil && len(r.sources) >= maxRefusalSources {
		source = refusalOtherSources
		s = r.sources[source]
	}
	if s == nil {
		r.sources[source] = &refusedSource{interval: refusalLogInterval, logged: now, last: now}
		return source, 1, true
	}
	s.last = now
	s.suppressed++
	if now.Sub(s.logged) < s.interval {
		return source, 0, false
	}
	times = s.suppressed
	s.logged, s.suppressed, s.interval = now, 0, min(2*s.interval, maxRefusalLogInterval)
	return source, times, true
}
