package web

import (
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// attempts bounds guessing at passwords. A node counts what it sees.
//
// A browser that nobody has signed in with yet is counted by user name and
// address together, so that nobody elsewhere can lock a person out, and by
// address alone, so that one address can't try one password on everybody. Who
// shares an address with the guesser would be locked out with them; so a browser
// that a person has signed in with before has a count of its own for that person
// (see device), which nobody else can use up.
type attempts struct {
	account, address *limit.Limiter
	device           *limit.Limiter // by its id
	own              *limit.Limiter // by user and address, of who is signed in
	elsewhere        *limit.Limiter // by address, of answers of the provider
	// Right passwords are not guesses, but each costs a hash and a session. Only
	// who knows the password can use this up, wherever they are.
	accepted *limit.Limiter
}

func newAttempts() *attempts {
	return &attempts{
		account: limit.New(0.1, 10, 10_000),
		address: limit.New(1, 60, 10_000),
		// What is used up is counted like any other browser until its person
		// signs in again, so it need not fill up for their sake.
		device:    limit.New(1.0/3600, 10, 10_000),
		own:       limit.New(0.1, 10, 10_000),
		elsewhere: limit.New(1, 60, 10_000),
		accepted:  limit.New(0.2, 200, 10_000),
	}
}

// take counts one attempt, or says how long to wait. The name is folded as the
// ledger does. A right password is no guess: forgive then gives the attempt
// back, and the person's own wrong ones before it, but not what others at the
// address have tried. It is false where it gave nothing back. Where nothing is
// looked at, undo gives back just this attempt.
func (a *attempts) take(username, address string, now time.Time) (wait time.Duration, forgive func() bool, undo func()) {
	address = limit.Network(address)
	wait, ofAddress := a.address.Try(address, now)
	if wait > 0 {
		return wait, nil, nil
	}
	key := accountKey(username, address)
	wait, ofAccount := a.account.Try(key, now)
	forgive = func() bool {
		if !a.accept(username, now) {
			return false
		}
		ofAddress()
		a.account.Forget(key)
		return true
	}
	return wait, forgive, func() { ofAddress(); ofAccount() }
}

// takeDevice is take for a browser that the person has signed in with before.
// It is false for one that has guessed too often to be told from any other.
func (a *attempts) takeDevice(id deviceID, username string, now time.Time) (forgive func() bool, ok bool) {
	key := string(id[:])
	if a.device.Take(key, now) > 0 {
		return nil, false
	}
	return func() bool {
		if !a.accept(username, now) {
			return false
		}
		a.device.Forget(key)
		return true
	}, true
}

// takeOwn is take for who is signed in, and asked for the password once more:
// nobody else at the address can be.
func (a *attempts) takeOwn(user, address string, now time.Time) (wait time.Duration, forgive func()) {
	key := accountKey(user, limit.Network(address))
	return a.own.Take(key, now), func() { a.own.Forget(key) }
}

// takeElsewhere counts one answer that a browser brings from the provider, which
// costs a few requests there. One that signs somebody in is given back.
func (a *attempts) takeElsewhere(address string, now time.Time) (wait time.Duration, forgive func(subject string) bool) {
	wait, undo := a.elsewhere.Try(limit.Network(address), now)
	return wait, a.forgiveElsewhere(undo, now)
}

// takeElsewhereDevice is to takeElsewhere as takeDevice is to take.
func (a *attempts) takeElsewhereDevice(id deviceID, now time.Time) (forgive func(subject string) bool, ok bool) {
	wait, undo := a.device.Try(string(id[:]), now)
	return a.forgiveElsewhere(undo, now), wait == 0
}

func (a *attempts) forgiveElsewhere(undo func(), now time.Time) func(subject string) bool {
	return func(subject string) bool {
		if !a.accept("elsewhere\x00"+subject, now) {
			return false
		}
		undo()
		return true
	}
}

// accept reports whether a right password is not counted. It is, like a guess,
// where they come as fast as only a program sends them.
func (a *attempts) accept(who string, now time.Time) bool {
	return a.accepted.Take(strings.ToLower(who), now) == 0
}

func accountKey(username, network string) string { return network + "\x00" + strings.ToLower(username) }
