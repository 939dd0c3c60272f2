package endpoint

import (
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
	"github.com/mintmark-auth/mintmark/issuer/security"
)

// recordFailure records a failed authentication. It records the client id only if a client has
// that id, since a misconfigured client may send its secret as the id.
func (e *Endpoints) recordFailure(r *http.Request, kind security.Kind, client string, cause ledger.Cause) {
	f := security.Failure{Kind: kind, Cause: cause, Address: e.ClientIP(r), Request: requestlog.ID(r.Context())}
	if c := e.Server.View().ClientNamed(client); c != nil {
		f.Client = c.ID
	}
	e.Security.Record(f)
}
