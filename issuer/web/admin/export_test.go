package admin

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
)

// Walk occupies the counters of grants like long walks, until done is called.
func Walk(w *Area) (done func()) {
	ended := make(chan struct{})
	occupy(w.agentCounters, ledger.PublisherGrants{}, ended)
	occupy(w.resourceCounters, 0, ended)
	return func() { close(ended) }
}

func occupy[T any](n *parts.Counters[T], value T, ended chan struct{}) {
	begun := make(chan struct{})
	go n.Get(context.Background(), "busy", 1, func() T {
		close(begun)
		<-ended
		return value
	})
	<-begun
}
