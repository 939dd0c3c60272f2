package transport

import (
	"maps"
	"net"
	"sync"
	"time"
)

// refusals decides which of the refused connections are logged. A peer that is
// misconfigured tries again each second, for days: the first refusal is logged at
// once, and later only their number, at growing intervals. Each address is counted
// for itself, so that an unauthenticated host that connects all the time hides no
// member's trouble.
type refusals struct {
	mu      sync.Mutex
	sources map[string]*refusedSource // by address without port
}

type refusedSource struct {
	interval   time.Duration // that has to pass since told
	logged     time.Time
	last       time.Time
	suppressed int // how many were not told since
}

const (
	refusalLogInterval    = 10 * time.Second // the first, which doubles
	maxRefusalLogInterval = time.Hour
	// refusalExpiry is for how long a source has to be quiet for its next
	// connection to be told as the first.
	refusalExpiry = 2 * maxRefusalLogInterval
	// maxRefusalSources bounds how many addresses are told apart; the rest is one.
	maxRefusalSources   = 64
	refusalOtherSources = "others"
)

// warn tells of a connection that was refused, where the log is to tell of it.
func (r *refusals) warn(to func(string, ...any), what string, from net.Addr, why string) {
	if source, times, tell := r.count(from.String(), time.Now()); tell && times > 1 {
		to(what, "from", source, "why", why, "times", times)
	} else if tell {
		to(what, "from", from.String(), "why", why)
	}
}

// count counts a connection from an address. It reports whether the log is to tell
// of it, as from whom, and how many there were since the last that was told.
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
