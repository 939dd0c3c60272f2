package verifier

import (
	"slices"
	"time"
)

// State describes a key source, for operators and status pages.
type State struct {
	// Ready reports whether there are keys to verify with. If not, every token is refused
	// with ReasonKeysUnavailable. To wait for keys, see [Verifier.Ready].
	Ready bool

	Keys        []string  // kids, sorted
	ConfirmedAt time.Time // begin of the last successful fetch; zero: none
	StaleAt     time.Time // when the keys stop serving, unless confirmed before; zero: never confirmed
	NextAt      time.Time // of the next attempt; zero during an attempt and after Close
	Restored    bool      // the keys are from the snapshot file: the issuer has not confirmed them since the start
	Err         error     // why the last attempt failed; nil if it succeeded

	// Revocations describes the feed of revocations. It is the zero value if
	// Config.Revocations is nil. Ready does not depend on it.
	Revocations RevocationsState
}

// State returns the source's part of [Verifier.State].
func (j *JWKS) State() State {
	now := j.now()
	j.mu.Lock()
	defer j.mu.Unlock()
	s := State{Err: j.lastErr}
	if j.flight == nil && !j.closed {
		s.NextAt = time.Unix(0, j.due.Load())
	}
	if snap := j.current.Load(); snap != nil {
		s.Ready = snap.serves(now)
		s.Keys = snap.keys.ids()
		s.ConfirmedAt, s.StaleAt, s.Restored = snap.confirmed, snap.staleUntil, snap.restored
	}
	return s
}

// State returns the key source's State if the source has that method, as a [JWKS] does.
// Any other source counts as ready.
func (v *Verifier) State() State {
	s := State{Ready: true}
	if source, ok := v.keys.(interface{ State() State }); ok {
		s = source.State()
	} else if set, ok := v.keys.(keySet); ok {
		s.Keys = set.ids()
	}
	s.Revocations = v.Revocations()
	return s
}

func (s keySet) ids() []string {
	ids := make([]string, 0, len(s))
	for id := range s {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
