package verifier

import (
	"slices"
	"time"
)

// State is how a key source stands, for a readiness check and for people. It
// says nothing about tokens.
type State struct {
	// Ready says that there are keys to verify with. Without it every token is
	// refused with ReasonKeysUnavailable.
	Ready bool

	Keys        []string  // kids, sorted
	ConfirmedAt time.Time // when the issuer was last asked with success; zero: never
	StaleAt     time.Time // when the keys stop serving, unless confirmed before; zero: never confirmed
	NextAt      time.Time // when the issuer is asked next; zero while it is, and behind Close
	Restored    bool      // the keys are those of the snapshot file: nobody has confirmed them to this process
	Err         error     // why the last attempt failed; nil if it didn't

	// Revocations is how the feed of revocations stands, and how old what is known
	// of it is. The zero value where Config.Revocations is nil. Ready does not
	// depend on it.
	Revocations RevocationsState
}

// State implements the source's part of [Verifier.State].
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

// State asks the key source how it stands, if it has a method State as a
// [JWKS] does. Any other source counts as ready.
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
