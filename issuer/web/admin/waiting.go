package admin

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// maxWaiting is the largest number that the navigation shows.
const maxWaiting = 99

// CountWaiting returns how many clients and publishers wait for a review, or maxWaiting+1
// for more.
func CountWaiting(v ledger.View) int {
	waiting, _ := v.ReviewQueue(ledger.QueueQuery{Limit: maxWaiting + 1})
	n := len(waiting)
	if n <= maxWaiting && v.Settings().AcceptsAgents() {
		n += len(publishersOf(v, string(ledger.PublisherPending), ""))
	}
	return n
}
