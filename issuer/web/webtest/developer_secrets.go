package webtest

import (
	"net/url"
	"regexp"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

var ShownSecret = regexp.MustCompile(`mms_[A-Za-z0-9_-]{43}`)

// RefusedFor returns why a refresh with that secret and an invalid token is refused.
func (w *Env) RefusedFor(client, secret string) ledger.Cause {
	out := w.Do(&ledger.Refresh{ClientAuth: ledger.ClientAuth{
		Client: client, Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: credential.Digest(Mac("secret key"), secret)}},
	}})
	return out.Refusal.Cause
}

const SecretsPath = "/developer/clients/calendar/secrets"

// AddSecretForm returns the form on the page of the secrets.
func (b *Browser) AddSecretForm() url.Values {
	b.Env.T.Helper()
	return b.Get(SecretsPath).Form(b.Env.T, SecretsPath+"/add")
}
