package web

import (
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// attempts limits guessing at passwords. Each node counts its own requests.
//
// One user name may have 100 wrong passwords and then 20 an hour, from all addresses
// together. A name without an account has the same limit, since a different one would
// reveal which accounts exist.
//
// Attempts from a browser without an earlier sign-in are counted in two more ways: by
// user name and address, so that a guesser elsewhere can't lock the user out, and by
// address, so that one address can't try one password on every account or occupy the
// password check. Users who share an address with a guesser would be locked out with
// the guesser, so a browser in which a user has signed in before has a separate count
// for that user (see device), which nobody else can use up.
type attempts struct {
	everywhere *limit.Fixed // by user name
	account    *limit.Limiter
	address    *limit.Networks
	device     *limit.Limiter  // by device id
	own        *limit.Limiter  // by session, of users who give their password again
	elsewhere  *limit.Networks // answers of the provider, by address
	// accepted are sign-ins by person. They are no guesses, but each costs a hash
	// and a session, and leaves an event in the audit trail, which is of bounded
	// length. Only who knows the password can use this up, and they are bounded
	// wherever they are: with many addresses they would not be otherwise.
	accepted *limit.Limiter
}

func newAttempts() *attempts {
	return &attempts{
		everywhere: limit.NewFixed(20.0/3600, 100),
		account:    limit.New(0.1, 10, 10_000),
		address:    limit.NewNetworks(1, 60, 10_000),
		// What is used up is counted like any other browser until its person
		// signs in again, so it need not fill up for their sake.
		device:    limit.New(1.0/3600, 10, 10_000),
		own:       limit.New(0.1, 10, 10_000),
		elsewhere: limit.NewNetworks(1, 60, 10_000),
		accepted:  limit.New(0.05, 200, 10_000),
	}
}

// take counts one attempt, or says how long to wait. The name is folded as the
// ledger does. A right password is no guess: forgive then gives the attempt
// back, and the person's own wrong ones before it, but not what others at the
// address have tried. Where nothing is looked at, undo gives back just this
// attempt.
func (a *attempts) take(username, address string, now time.Time) (wait time.Duration, forgive, undo func()) {
	wait, ofAddress := a.address.Try(address, now)
	if wait > 0 {
		return wait, nil, nil
	}
	key := accountKey(username, limit.Network(address))
	wait, ofAccount := a.account.Try(key, now)
	if wait > 0 {
		return wait, nil, nil
	}
	wait, ofName := a.everywhere.Try(strings.ToLower(username), now)
	if wait > 0 {
		ofAddress()
		ofAccount()
		return wait, nil, nil
	}
	return 0, func() { ofAddress(); ofName(); a.account.Forget(key) }, func() { ofAddress(); ofName(); ofAccount() }
}

// takeDevice is take for a browser that the person has signed in with before.
// It is false for one that has guessed too often to be told from any other.
func (a *attempts) takeDevice(id deviceID, now time.Time) (forgive func(), ok bool) {
	key := string(id[:])
	return func() { a.device.Forget(key) }, a.device.Take(key, now) == 0
}

// takeOwn is take for who is signed in, and asked for the password once more.
// Neither who shares their address nor who has another session of theirs can
// keep them from it; and who has this one has few guesses, wherever they are.
func (a *attempts) takeOwn(session string, now time.Time) (wait time.Duration, forgive func()) {
	return a.own.Take(session, now), func() { a.own.Forget(session) }
}

// takeElsewhere counts one answer that a browser brings from the provider, which
// costs a few requests there. One that signs somebody in is given back.
func (a *attempts) takeElsewhere(address string, now time.Time) (wait time.Duration, forgive func()) {
	return a.elsewhere.Try(address, now)
}

// takeElsewhereDevice is to takeElsewhere as takeDevice is to take.
func (a *attempts) takeElsewhereDevice(id deviceID, now time.Time) (forgive func(), ok bool) {
	wait, forgive := a.device.Try(string(id[:]), now)
	return forgive, wait == 0
}

// accept counts a sign-in of a person whose password is right, or says how long to
// wait: they come as fast as only a program sends them.
func (a *attempts) accept(user string, now time.Time) (wait time.Duration) {
	return a.accepted.Take(user, now)
}

// acceptElsewhere is accept for whom the provider has signed in.
func (a *attempts) acceptElsewhere(subject string, now time.Time) (wait time.Duration) {
	return a.accepted.Take("elsewhere\x00"+subject, now)
}

func accountKey(username, network string) string { return network + "\x00" + strings.ToLower(username) }
