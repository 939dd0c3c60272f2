package endpoint

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/security"
)

// Revocations is the revocation feed (package feed).
type Revocations interface {
	// Poll returns the signed document of the revocations after a version, or the complete
	// document if after is "" or unknown. It waits for a newer version for at most that time,
	// or not at all if the reader has too many requests waiting.
	Poll(ctx context.Context, reader, after string, wait time.Duration) ([]byte, error)
}

// maxWait is the maximum of the parameter wait, in seconds. The feed may wait for a
// shorter time.
const maxWait = 60

// revocations handles GET /v2/auth/oauth2/revocations, for resource servers only, since it names
// users.
func (e *Endpoints) revocations(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	header := r.Header["Authorization"]
	var sender oauth.ClientCredentials
	ok := len(header) == 1
	if ok {
		sender, ok = oauth.ParseBasic(header[0])
	}
	if !ok {
		e.refuseReader(w, r, len(header) > 1, ledger.AuthenticationMalformed)
		return
	}
	reader, err := e.Server.AuthenticateReader(r.Context(), sender)
	var refused *oauth.Error
	switch {
	case errors.As(err, &refused):
		e.refuseReader(w, r, true, ledger.Cause(refused.Cause))
		return
	case err != nil:
		e.fail(w, r, err)
		return
	}
	wait := 0
	query := r.URL.Query()
	if text := query.Get("wait"); text != "" {
		if wait, err = strconv.Atoi(text); err != nil || wait < 0 || wait > maxWait {
			writeError(w, http.StatusBadRequest, &oauth.Error{Code: oauth.InvalidRequest, Description: "wait is not a number of seconds from 0 to 60."})
			return
		}
	}
	body, err := e.Revocations.Poll(r.Context(), reader, query.Get("after"), time.Duration(wait)*time.Second)
	if err != nil {
		e.fail(w, r, err)
		return
	}
	h := w.Header()
	h["Content-Type"] = typeRevocations
	h["Cache-Control"] = noStore
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.Write(body) //nolint:errcheck // the reader has disconnected
}

var typeRevocations = []string{"application/mintmark-revocations+jwt"}

// refuseReader responds to a sender that is no resource server. A wrong secret is counted like
// that of a client.
func (e *Endpoints) refuseReader(w http.ResponseWriter, r *http.Request, tried bool, cause ledger.Cause) {
	if tried {
		if wait := e.failures.Take(failureKey("\x00reader", e.ClientIP(r)), e.Now()); wait > 0 {
			e.recordFailure(r, security.Reader, "", ledger.Throttled)
			w.Header().Set("Retry-After", seconds(wait))
			writeError(w, http.StatusTooManyRequests, &oauth.Error{
				Code: oauth.TemporarilyUnavailable, Description: "There were too many failures. Wait before the next try.",
			})
			return
		}
	}
	if tried {
		e.recordFailure(r, security.Reader, "", cause)
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="revocations", charset="UTF-8"`)
	writeError(w, http.StatusUnauthorized, &oauth.Error{
		Code: oauth.InvalidClient, Description: "The name or the secret of the resource server is wrong.",
	})
}
