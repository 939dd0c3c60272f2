package web

import (
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// attempts bounds guessing at passwords: by user name and address together, so
// that nobody elsewhere can lock a person out, and by address alone, so that
// one address can't try one password on everybody. A node counts what it sees.
type attempts struct{ account, address *limit.Limiter }

func newAttempts() *attempts {
	return &attempts{
		account: limit.New(0.1, 10, 10_000),
		address: limit.New(1, 60, 10_000),
	}
}

// take counts one attempt, or says how long to wait. The name is folded as the
// ledger does.
func (a *attempts) take(username, address string, now time.Time) (wait time.Duration) {
	address = limit.Network(address)
	if wait := a.address.Take(address, now); wait > 0 {
		return wait
	}
	return a.account.Take(accountKey(username, address), now)
}

// forgive is called after a right password.
func (a *attempts) forgive(username, address string) {
	a.account.Forget(accountKey(username, limit.Network(address)))
}

func accountKey(username, network string) string { return network + "\x00" + strings.ToLower(username) }
