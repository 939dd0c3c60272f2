package admin

import (
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Problems is ClusterStatus.problems.
func Problems(s ClusterStatus, now time.Time) []string { return s.problems(now) }

// Scopes returns the scope of every operation; "local" is for the local socket only.
func Scopes() map[string]ledger.OperatorScope {
	all := map[string]ledger.OperatorScope{}
	for _, r := range routes {
		all[r.name] = r.scope
	}
	return all
}

// Downloads are the operations whose response is bytes.
func Downloads() (names []string) {
	for _, r := range routes {
		if r.answer == nil {
			names = append(names, r.name)
		}
	}
	return names
}

// BearerToken is bearerToken.
var BearerToken = bearerToken
