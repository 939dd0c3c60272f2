package authn

import (
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// attempts limits guessing at passwords. Each node counts its own requests.
//
// One user name may have 100 wrong passwords and then 20 an hour, over all addresses. A
// name without an account has the same limit, since a different one would reveal which
// accounts exist.
//
// Attempts from a browser without an earlier sign-in are counted in two more ways: by
// user name and address, so that an attacker elsewhere can't lock the user out; and by
// address, so that one sender can't try one password on every account. The latter
// includes the IPv6 prefixes of one subscriber (see limit.Networks), so that one
// household can't keep the password check busy. Users who share an address with an
// attacker would be locked out as well, so a browser in which a user has signed in before
// has a separate count for that user (see device), which nobody else can use up.
type attempts struct {
	username *limit.Fixed // by user name
	account  *limit.Limiter
	address  *limit.Networks
	device   *limit.Limiter  // by device id
	session  *limit.Limiter  // by session, for users who enter their password again
	upstream *limit.Networks // responses of the provider, by address
	// accepted counts successful sign-ins by user. They are no guesses, but each costs a
	// hash and a session, and adds an event to the audit trail, whose length is bounded.
	// Only somebody with the password can use this up. It counts over all addresses:
	// otherwise many addresses would have no bound.
	accepted *limit.Limiter
}

func newAttempts() *attempts {
	return &attempts{
		username: limit.NewFixed(20.0/3600, 100),
		account:  limit.New(0.1, 10, 10_000),
		address:  limit.NewNetworks(1, 60, 10_000),
		// A device whose limit is used up is treated like any other browser until its user signs
		// in again, so the refill may be slow.
		device:   limit.New(1.0/3600, 10, 10_000),
		session:  limit.New(20.0/3600, 10, 10_000),
		upstream: limit.NewNetworks(1, 60, 10_000),
		accepted: limit.New(0.05, 200, 10_000),
	}
}

// try counts one attempt, or returns how long to wait. The name is folded as in the
// ledger. After a correct password, forgive removes the attempt from the counts, and the
// earlier wrong ones for this name from this address, but not those for other names. If
// the password was not verified, undo removes only this attempt.
func (a *attempts) try(username, address string, now time.Time) (wait time.Duration, forgive, undo func()) {
	wait, ofAddress := a.address.Try(address, now)
	if wait > 0 {
		return wait, nil, nil
	}
	key := accountKey(username, limit.Network(address))
	wait, ofAccount := a.account.Try(key, now)
	if wait > 0 {
		return wait, nil, nil
	}
	wait, ofName := a.username.Try(strings.ToLower(username), now)
	if wait > 0 {
		ofAddress()
		ofAccount()
		return wait, nil, nil
	}
	return 0, func() { ofAddress(); ofName(); a.account.Forget(key) }, func() { ofAddress(); ofName(); ofAccount() }
}

// tryDevice is try for a browser in which the user has signed in before. ok is false if
// its limit is used up.
func (a *attempts) tryDevice(id deviceID, now time.Time) (forgive func(), ok bool) {
	key := string(id[:])
	return func() { a.device.Forget(key) }, a.device.Take(key, now) == 0
}

// trySession is try for a signed-in user who enters the password again. It counts by
// session: neither others at the same address nor another session of the user can use it
// up, and an attacker with this session has few guesses over all addresses.
func (a *attempts) trySession(session string, now time.Time) (wait time.Duration, forgive func()) {
	return a.session.Take(session, now), func() { a.session.Forget(session) }
}

// tryUpstream counts one response of the provider that a browser sends, since each costs
// a few requests to the provider. forgive removes it from the count after a successful
// sign-in.
func (a *attempts) tryUpstream(address string, now time.Time) (wait time.Duration, forgive func()) {
	return a.upstream.Try(address, now)
}

// tryUpstreamDevice is tryUpstream for a browser in which the user has signed in before.
func (a *attempts) tryUpstreamDevice(id deviceID, now time.Time) (forgive func(), ok bool) {
	wait, forgive := a.device.Try(string(id[:]), now)
	return forgive, wait == 0
}

// accept counts a sign-in with a correct password, or returns how long to wait if they
// arrive faster than a person could send them.
func (a *attempts) accept(user string, now time.Time) (wait time.Duration) {
	return a.accepted.Take(user, now)
}

// acceptUpstream is accept for a user whom the provider has signed in.
func (a *attempts) acceptUpstream(subject string, now time.Time) (wait time.Duration) {
	return a.accepted.Take("upstream\x00"+subject, now)
}

func accountKey(username, network string) string { return network + "\x00" + strings.ToLower(username) }
