package developer

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
)

// Walk occupies the counters like a long walk, until done is called.
func Walk(w *Area) (done func()) {
	begun, ended := make(chan struct{}), make(chan struct{})
	go w.counters.Get(context.Background(), "busy", 1, func() ledger.Connected {
		close(begun)
		<-ended
		return ledger.Connected{}
	})
	<-begun
	return func() { close(ended) }
}

// Counted reports whether the number of a client is known.
func Counted(w *Area, client string) bool {
	_, _, known := w.counters.Get(context.Background(), client, 1, func() ledger.Connected {
		return w.Ledger.View().Connected(client, w.Ledger.Now(), parts.MaxCountedUsers)
	})
	return known
}

// Forget makes every number be counted again.
func Forget(w *Area) { w.counters = parts.NewCounters[ledger.Connected]() }

// TruncateList shortens the lists of clients' users.
func TruncateList(w *Area, n int) { w.listed = n }

// Remedy returns a title and what to check after a refusal, or "" for a cause without words.
func Remedy(cause ledger.Cause) (title, check string) {
	return remedies[cause].title, remedies[cause].check
}
