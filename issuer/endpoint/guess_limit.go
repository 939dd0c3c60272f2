package endpoint

import (
	"errors"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A guessLimiter limits guessing at client secrets. A text in the form of a generated
// secret is always verified, since those are too long to be guessed. Other secrets may be
// imported ones of unknown strength, so the number of wrong ones is limited for each
// client_id, over all addresses. The limit also applies to a client_id that no client
// has, so that it doesn't reveal which ones exist.
//
// To prevent attackers from locking a client out, each network from which the client has
// recently authenticated has a separate count for that client.
type guessLimiter struct {
	known           func(oauth.ClientCredentials) bool // Server.KnowsSecret
	unauthenticated *limit.Fixed                       // by client_id
	recent          *limit.Recent[struct{}]            // pairs of client_id and network that authenticated
	authenticated   *limit.Limiter                     // by such pair
}

// The limits on wrong secrets of one client_id, on each node: a burst, and a rate per second.
// recentBurst is higher because a correct secret counts too until the request is decided, so it
// bounds how many requests a client may have in flight.
const (
	guessBurst     = 100
	guessRate      = 1
	recentBurst    = 500
	recentFor      = 7 * 24 * time.Hour
	maxRecentPairs = 10_000
)

func newGuessLimiter(known func(oauth.ClientCredentials) bool) *guessLimiter {
	return &guessLimiter{
		known:           known,
		unauthenticated: limit.NewFixed(guessRate, guessBurst),
		recent:          limit.NewRecent[struct{}](recentFor, maxRecentPairs),
		authenticated:   limit.New(guessRate, recentBurst, maxRecentPairs),
	}
}

// try counts the secret of a request as a guess, or returns how long to wait before the
// next one is verified. The caller must call done with the error of the response; done
// removes the secret from the count if it was correct and the code or token is genuine.
//
// A request without a decision is decided by this node's own state. The sender may have hung
// up, or there is no leader: neither may allow more guesses, and an outage must not lock out
// a client whose secret is correct.
func (g *guessLimiter) try(c oauth.ClientCredentials, address string, now time.Time) (wait time.Duration, done func(error)) {
	if c.Secret == "" || credential.IsSecret(c.Secret) {
		return 0, func(error) {}
	}
	// The name of a resource server is found whatever its case.
	holder := strings.ToLower(c.ID)
	pair := failureKey(holder, address)
	var undo func()
	if g.recent.Has(pair, now) {
		wait, undo = g.authenticated.Try(pair, now)
	} else {
		wait, undo = g.unauthenticated.Try(holder, now)
	}
	return wait, func(err error) {
		var refused *oauth.Error
		switch {
		case err != nil && !errors.As(err, &refused):
			if errors.Is(err, oauth.ErrSecretCorrect) || g.known(c) {
				undo()
			}
		case refused == nil, refused.Code != oauth.InvalidClient && refused.Genuine:
			undo()
			g.recent.Mark(pair, struct{}{}, now)
		case refused.Code != oauth.InvalidClient:
			g.recent.Mark(pair, struct{}{}, now) // the secret was correct, but the code or token may be a guess
		}
	}
}
