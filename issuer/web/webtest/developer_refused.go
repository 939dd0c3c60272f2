package webtest

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func (w *Env) Refuse(id, reason string) {
	w.T.Helper()
	w.Must(&ledger.ReviewClient{Actor: Operator, ID: id, Verdict: ledger.Reject, Reason: reason, Revision: w.ClientRow(id).Revision})
}
