package webtest

import (
	"net/http"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// SignedInWith signs Ada in with a browser of a certain kind.
func (w *Env) SignedInWith(agent string) *Browser {
	w.T.Helper()
	b := w.Browser()
	b.Header.Set("User-Agent", agent)
	require.Equal(w.T, http.StatusSeeOther, b.SignIn(b.Get("/auth/sign-in"), "ada", Password).StatusCode)
	b.UserID = "u-ada"
	return b
}

func Handle(b *Browser) string {
	return (&ledger.Session{ID: credential.SessionDigest(b.Session())}).Handle()
}
