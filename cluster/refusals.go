package cluster

import (
	"maps"
	"net"
	"sync"
	"time"
)

// refusals decides which of the connections that are refused the log tells of.
// A peer that is misconfigured tries again each second, for days: the first is
// told at once, and then now and then how many there were. Each address is told
// for itself, so that a stranger who knocks all the time hides nobody's trouble.
type refusals struct {
	mu      sync.Mutex
	sources map[string]*refusedSource // by address without port
}

type refusedSource struct {
	pause  time.Duration // that has to pass since told
	told   time.Time
	last   time.Time
	silent int // how many were not told since
}

const (
	refusalPause    = 10 * time.Second // the first, which doubles
	refusalPauseMax = time.Hour
	// refusalForgotten is for how long a source has to be quiet for its next
	// connection to be told as the first.
	refusalForgotten = 2 * refusalPauseMax
	// refusalSources bounds how many addresses are told apart; the rest is one.
	refusalSources   = 64
	refusalElsewhere = "others"
)

// warn tells of a connection that was refused, where the log is to tell of it.
func (r *refusals) warn(to func(string, ...any), what string, from net.Addr, why string) {
	if source, times, tell := r.note(from.String(), time.Now()); tell && times > 1 {
		to(what, "from", source, "why", why, "times", times)
	} else if tell {
		to(what, "from", from.String(), "why", why)
	}
}

// note counts a connection from an address. It reports whether the log is to tell
// of it, as from whom, and how many there were since the last that was told.
func (r *refusals) note(address string, now time.Time) (source string, times int, tell bool) {
	source = address
	if host, _, err := net.SplitHostPort(address); err == nil {
		source = host
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources == nil {
		r.sources = make(map[string]*refusedSource)
	}
	maps.DeleteFunc(r.sources, func(_ string, s *refusedSource) bool { return now.Sub(s.last) > refusalForgotten })
	s := r.sources[source]
	if s == nil && len(r.sources) >= refusalSources {
		source = refusalElsewhere
		s = r.sources[source]
	}
	if s == nil {
		r.sources[source] = &refusedSource{pause: refusalPause, told: now, last: now}
		return source, 1, true
	}
	s.last = now
	s.silent++
	if now.Sub(s.told) < s.pause {
		return source, 0, false
	}
	times = s.silent
	s.told, s.silent, s.pause = now, 0, min(2*s.pause, refusalPauseMax)
	return source, times, true
}
