package webtest

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const GivePage = CalendarPage + "/transfer"

func (w *Env) SetUserState(user string, to ledger.UserState) {
	w.T.Helper()
	w.Must(&ledger.SetUserState{Actor: Operator, User: user, State: to})
}
