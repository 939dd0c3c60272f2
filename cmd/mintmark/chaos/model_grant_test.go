package chaos

import "time"

// A chain is the row of a grant: S1 and S2.
type chain struct {
	due   uint32 // the generation that may be presented next
	ended bool
}

// chainModel is the model of grants. An honest client sends a token twice only while it
// has no answer; nevertheless the first copy may be decided last, after the second was
// answered and its successor was used. That looks like reuse and must not end the grant.
// With late it may: the report lists such ends separately, since a user was signed out,
// but no thief got access.
func chainModel(late bool) model[chain] {
	m := model[chain]{
		name: "the chain",
		key: func(o op) string {
			switch o.Kind {
			case exchange, refresh, revokeGrant, recovery:
				return o.Grant
			}
			return ""
		},
		step: func(s chain, o op) []chain { return s.step(o, late) },
	}
	if !late {
		m.settled = overtakenAt
	}
	return m
}

// overtakenAt returns when the token of a refresh with an unknown outcome was certainly
// used, by any request: from then on the refresh changes nothing.
func overtakenAt(part []op, o op) (at time.Duration, spent bool) {
	if o.Kind != refresh || o.Deliberate {
		return 0, false
	}
	for _, other := range part {
		if other.Kind == refresh && other.Class == ok && other.Gen >= o.Gen && (!spent || other.End < at) {
			at, spent = other.End, true
		}
	}
	return at, spent
}

func (s chain) step(o op, late bool) []chain {
	switch o.Kind {
	case exchange:
		return s.exchange(o)
	case refresh:
		return s.refresh(o, late)
	case recovery:
		// Regardless of the survivor's state, the client continues with the token that it
		// has. A grant that ended stays ended, because the journals of the lost nodes are
		// replayed.
		return []chain{{o.Gen, s.ended}}
	}
	over := chain{s.due, true}
	switch o.Class {
	case ok:
		return []chain{over}
	case unknown:
		return []chain{s, over}
	}
	return []chain{s}
}

// exchange is the redemption of generation 0.
func (s chain) exchange(o op) []chain {
	spent, over := chain{1, false}, chain{s.due, true}
	fresh := s.due == 0 && !s.ended
	switch {
	case o.Class == ok && fresh && o.Got == 1 && o.Age != expired:
		return []chain{spent}
	case o.Class == ok:
		return nil
	case o.Class == unknown && fresh:
		return []chain{s, spent}
	case o.Class == unknown:
		return []chain{s, over} // a repetition uses the code twice
	case o.Code != invalidGrant:
		return []chain{s} // checked by another model
	case s.ended:
		return []chain{s}
	case s.due > 0:
		return []chain{over}
	case o.Age != young:
		return []chain{s}
	}
	return nil // the code was valid
}

const invalidGrant = "invalid_grant"

func (s chain) refresh(o op, late bool) []chain {
	next, over := chain{s.due + 1, false}, chain{s.due, true}
	isDue := !s.ended && o.Gen == s.due && s.due > 0
	isRetry := !s.ended && o.Gen+1 == s.due && o.Gen > 0
	switch {
	case o.Class == ok && isDue && o.Got == s.due+1:
		return []chain{next}
	case o.Class == ok && isRetry && o.Got == s.due && o.Age != expired:
		return []chain{s}
	case o.Class == ok:
		return nil
	case o.Class == unknown && isDue:
		return []chain{s, next}
	case o.Class == unknown && o.Gen+1 < s.due && (o.Deliberate || late):
		return []chain{s, over}
	case o.Class == unknown:
		return []chain{s}
	case o.Code != invalidGrant:
		return []chain{s}
	case s.ended:
		return []chain{s}
	case o.Gen+1 < s.due && (o.Deliberate || late), isRetry && o.Age != young:
		return []chain{over} // reuse
	}
	return nil // the token was due, or within the retry window
}

// retryWindow is how long a spent token may be presented again, and codeLifetime how
// long a code may be redeemed. clockSlack is how far both may be off because the clocks
// of nodes and of the test differ.
const (
	retryWindow      = 60 * time.Second
	agentRetryWindow = 30 * time.Minute // of the processes of an agent
	codeLifetime     = 300 * time.Second
	clockSlack       = 10 * time.Second
)

// An age tells whether a token was presented within its retry window, or a code within
// its lifetime, as far as the times of the request and the answer show.
type age int

const (
	young   age = iota // inside
	dubious            // perhaps inside
	expired            // outside
)

// ageOf returns the age of something that happened between least and most ago.
func ageOf(least, most, limit time.Duration) age {
	switch {
	case least > limit+clockSlack:
		return expired
	case most > limit-clockSlack:
		return dubious
	}
	return young
}

// aged fills in the ages. A token was spent after it was first presented, and before
// its first success was answered. Time in which nothing could be committed does not
// count for a token. It does for a code, which is as old as its Allow.
func (w *env) aged(ops []op) []op {
	type token struct {
		grant string
		gen   uint32
	}
	allowed := map[string]op{}
	first, done := map[token]time.Duration{}, map[token]time.Duration{}
	for _, o := range ops {
		k := token{o.Grant, o.Gen}
		if o.Kind == allow && o.Class == ok {
			allowed[o.Grant] = o
		}
		if o.Kind != refresh {
			continue
		}
		if was, seen := first[k]; !seen || o.Start < was {
			first[k] = o.Start
		}
		if was, seen := done[k]; o.Class == ok && (!seen || o.End < was) {
			done[k] = o.End
		}
	}
	for i := range ops {
		o := &ops[i]
		switch o.Kind {
		case exchange:
			if a, known := allowed[o.Grant]; known {
				o.Age = ageOf(w.clockElapsed(o.Start)-w.clockElapsed(a.End), w.clockElapsed(o.End)-w.clockElapsed(a.Start), codeLifetime)
			}
		case refresh:
			k := token{o.Grant, o.Gen}
			var least time.Duration
			if spent, known := done[k]; known && spent < o.Start {
				least, _ = w.countedTime(spent, o.Start)
			}
			_, most := w.countedTime(first[k], o.End)
			window := retryWindow
			if o.Publisher != "" {
				window = agentRetryWindow
			}
			o.Age = ageOf(least, most, window)
		}
	}
	return ops
}
