package webtest

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	NewUserPage = "/admin/new-user"
	AdaPage     = "/admin/users/u-ada"
)

func (w *Env) UserByName(name string) *ledger.User {
	return ledger.At(w.Memory.View()).UserByName(name)
}
