package webtest

import (
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	ResourcesPage   = "/admin/resource-servers"
	NewResourcePage = "/admin/new-resource-server"

	ApiURI   = "https://api.example"
	ApiPage  = ResourcesPage + "/api"
	AboutAPI = "api\x00" + ApiURI + "\x00" // begins what a form's token is bound to
)

// Resource registers a resource server with secrets.
func (w *Env) Resource(name string, secrets ...string) {
	w.T.Helper()
	id := "https://" + name + ".example"
	w.Must(&ledger.PutResourceServer{Actor: Operator, ID: id, Name: name})
	for _, s := range secrets {
		w.Must(&ledger.AddResourceSecret{Actor: Operator, Resource: id, Secret: w.Secret(s)})
	}
}

func (w *Env) ResourceRow(id string) *ledger.ResourceServer {
	return ledger.At(w.Memory.View()).ResourceServer(id)
}

// ReaderWith returns why a resource server is refused with a secret, or NoCause.
func (w *Env) ReaderWith(id, secret string) ledger.Cause {
	_, cause, _ := ledger.At(w.Memory.View()).AuthenticateFeedReader(ledger.ClientAuth{
		Client: id, Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: credential.Digest(Mac("secret key"), secret)}},
	})
	return cause
}
