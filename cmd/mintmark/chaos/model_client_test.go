package chaos

import "math/bits"

// active has a bit for each secret of a client that may be used: S3, and the
// bounds of S4. The client has its first secret from the beginning.
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

// isUninformative reports whether an op of a client's grant says nothing about the
// client: fewer ops are checked sooner.
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

// authenticate is a request that authenticates by a secret: whatever comes after that
// shows that the secret was good.
func (s active) authenticate(o op, it active) []active {
	wrong := o.Class == refused && o.Code == "invalid_client"
	switch {
	case o.Class == unknown:
	case wrong && s&it != 0, !wrong && s&it == 0:
		return nil
	}
	return []active{s}
}

// state is whether a client may be used: S5.
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
		return []state{s} // refused: it is so already, or another command came between
	}
	switch o.Kind {
	case suspend:
		return turn(approved, suspended)
	case resume:
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
