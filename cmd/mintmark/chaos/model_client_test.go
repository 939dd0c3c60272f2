package chaos

import "math/bits"

// active has a bit for each usable secret of a client: S3, and the bounds of S4. The
// client has its first secret from the beginning.
type active uint64

var secretModel = model[active]{
	name:  "the secrets",
	first: 1,
	key: func(o op) string {
		if o.Client != turning || o.Secret >= bits.UintSize || o.isUninformative() {
			return ""
		}
		return o.Client
	},
	step: active.step,
}

const maxActive = 2

// isUninformative reports whether an op of a client's grant has no information about the
// client: fewer ops are checked faster.
func (o op) isUninformative() bool {
	return o.Kind == allow || o.Class == unknown && (o.Kind == refresh || o.Kind == exchange)
}

func (s active) step(o op) []active {
	it := active(1) << o.Secret
	n := bits.OnesCount64(uint64(s))
	switch o.Kind {
	case addSecret:
		switch o.Class {
		case ok:
			if n >= maxActive {
				return nil
			}
			return []active{s | it}
		case refused:
			if n < maxActive {
				return nil
			}
		case unknown:
			if n < maxActive {
				return []active{s, s | it}
			}
		}
		return []active{s}
	case revokeSecret:
		last := s&it != 0 && n == 1
		switch {
		case o.Class == ok && last:
			return nil
		case o.Class == ok:
			return []active{s &^ it}
		case o.Class == refused && !last:
			return nil
		case o.Class == unknown && !last:
			return []active{s, s &^ it}
		}
		return []active{s}
	}
	return s.authenticate(o, it)
}

// authenticate handles a request that authenticates by a secret: any result after
// authentication shows that the secret was valid.
func (s active) authenticate(o op, it active) []active {
	wrong := o.Class == refused && o.Code == "invalid_client"
	switch {
	case o.Class == unknown:
	case wrong && s&it != 0, !wrong && s&it == 0:
		return nil
	}
	return []active{s}
}

// state tells whether a client may be used: S5.
type state string

const (
	approved  state = "approved"
	suspended state = "suspended"
)

var stateModel = model[state]{
	name:  "the state",
	first: approved,
	key: func(o op) string {
		if o.Client != toggling || o.isUninformative() {
			return ""
		}
		return o.Client
	},
	step: state.step,
}

// publisherModel is stateModel for the publishers of agents.
var publisherModel = model[state]{
	name:  "the publisher",
	first: approved,
	key: func(o op) string {
		if o.isUninformative() || o.Kind == setCeiling || o.Kind == endGrants {
			return ""
		}
		return o.Publisher
	},
	step: state.step,
}

func (s state) step(o op) []state {
	turn := func(from, to state) []state {
		switch {
		case o.Class == ok && s != from:
			return nil
		case o.Class == ok:
			return []state{to}
		case o.Class == unknown && s == from:
			return []state{s, to}
		}
		return []state{s} // refused: already in that state, or another command came first
	}
	switch o.Kind {
	case suspend, rejectPublisher:
		return turn(approved, suspended)
	case resume, approvePublisher:
		return turn(suspended, approved)
	}
	stopped := o.Class == refused && o.Code == "unauthorized_client"
	switch {
	case o.Class == unknown:
	case stopped && s == approved, !stopped && s != approved:
		return nil
	}
	return []state{s}
}
