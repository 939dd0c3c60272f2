package endpoint

import (
	"errors"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// guesses bounds guessing at client secrets. A secret of this service's making is
// random and is always looked at. Any other may be one that was imported, of
// unknown strength: of those a client_id has so many wrong ones, wherever they
// come from. Whether there is such a client makes no difference.
//
// Others must not be able to lock a client out by that, so a client has a count
// of its own for each network that it authenticated from lately.
type guesses struct {
	strangers *limit.Fixed   // by client_id
	lately    *limit.Lately  // pairs of client_id and network
	known     *limit.Limiter // by pair
}

// Wrong secrets of one client_id on one node: this many at once, then so many a
// second. A client that sends as many requests at once from a network that it is
// known at must not be limited, as what is right is given back after the decision.
const (
	guessBurst = 100
	guessRate  = 1
	knownBurst = 500
	knownFor   = 7 * 24 * time.Hour
	knownPairs = 10_000
)

func newGuesses() *guesses {
	return &guesses{
		strangers: limit.NewFixed(guessRate, guessBurst),
		lately:    limit.NewLately(knownFor, knownPairs),
		known:     limit.New(guessRate, knownBurst, knownPairs),
	}
}

// take counts the secret of a request, or says how long to wait before one is
// looked at. Done is told what was answered.
func (g *guesses) take(c oauth.ClientCredentials, address string, now time.Time) (wait time.Duration, done func(error)) {
	if c.Secret == "" || credential.IsSecret(c.Secret) {
		return 0, func(error) {}
	}
	pair := failureKey(c.ID, address)
	var undo func()
	if g.lately.Has(pair, now) {
		wait, undo = g.known.Try(pair, now)
	} else {
		wait, undo = g.strangers.Try(c.ID, now)
	}
	return wait, func(err error) {
		var refused *oauth.Error
		switch {
		case err == nil, errors.As(err, &refused) && refused.Genuine:
			undo()
			g.lately.Mark(pair, now)
		case refused == nil:
			undo() // nothing was decided
		case refused.Code != oauth.InvalidClient:
			g.lately.Mark(pair, now) // the secret was right; what else came with it may be a guess
		}
	}
}
