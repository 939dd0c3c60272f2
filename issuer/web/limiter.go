package web

import (
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// attempts bounds guessing at passwords: by user name and address together, so
// that nobody elsewhere can lock a person out, and by address alone, so that
// one address can't try one password on everybody. A node counts what it sees.
type attempts struct{ account, address, accepted *limit.Limiter }

func newAttempts() *attempts {
	return &attempts{
		account: limit.New(0.1, 10, 10_000),
		address: limit.New(1, 60, 10_000),
		// Right passwords are not guesses, but each costs a hash and a session.
		accepted: limit.New(1, 200, 10_000),
	}
}

// take counts one attempt, or says how long to wait. The name is folded as the
// ledger does. A right password is no guess: forgive then gives the attempt
// back, and the person's own wrong ones before it, but not what others at the
// address have tried.
func (a *attempts) take(username, address string, now time.Time) (wait time.Duration, forgive func()) {
	address = limit.Network(address)
	wait, undo := a.address.Try(address, now)
	if wait > 0 {
		return wait, nil
	}
	key := accountKey(username, address)
	return a.account.Take(key, now), func() {
		if a.accepted.Take(key, now) > 0 {
			return // so many that they count like guesses
		}
		undo()
		a.account.Forget(key)
	}
}

// takeElsewhere counts one answer that a browser brings from the provider, which
// costs a few requests there. One that signs somebody in is given back.
func (a *attempts) takeElsewhere(address string, now time.Time) (wait time.Duration, forgive func(subject string)) {
	address = limit.Network(address)
	wait, undo := a.address.Try(address, now)
	return wait, func(subject string) {
		if a.accepted.Take(accountKey("elsewhere\x00"+subject, address), now) == 0 {
			undo()
		}
	}
}

func accountKey(username, network string) string { return network + "\x00" + strings.ToLower(username) }
