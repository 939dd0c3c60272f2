package webtest

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func (w *Env) Agents(is ledger.Agents) {
	s := *w.View().Settings()
	s.Agents = is
	w.Must(&ledger.Configure{Settings: s})
}

func (w *Env) List(host string) {
	w.Must(&ledger.PutPublisher{
		Actor: ledger.Actor{Operator: true}, Host: host, Scopes: []string{"BOOKING_READ", "BOOKING_WRITE"}, Defaults: []string{"BOOKING_READ"},
	})
}
