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
		id := e.Server.ErrorID("", ledger.Refusal{Code: oauth.InvalidClient, Cause: ledger.AuthenticationMalformed})
		e.refuseReader(w, r, len(header) > 1, &oauth.Error{ID: id, Cause: uint16(ledger.AuthenticationMalformed)})
		return
	}
	wait, answered := e.guesses.try(sender, e.ClientIP(r), e.Now())
	if wait > 0 {
		e.throttleReader(w, r, wait, e.Server.ErrorID(sender.ID, ledger.Refusal{Code: oauth.TemporarilyUnavailable, Cause: ledger.Throttled}))
		return
	}
	reader, err := e.Server.AuthenticateFeedReader(r.Context(), sender)
	answered(err)
	var refused *oauth.Error
	switch {
	case errors.As(err, &refused):
		e.refuseReader(w, r, true, refused)
		return
	case err != nil:
		e.fail(w, r, err)
		return
	}
	atMost := 0
	query := r.URL.Query()
	if text := query.Get("wait"); text != "" {
		if atMost, err = strconv.Atoi(text); err != nil || atMost < 0 || atMost > maxWait {
			writeError(w, http.StatusBadRequest, &oauth.Error{
				Code: oauth.InvalidRequest, Description: "wait is not a number of seconds from 0 to 60.",
				ID: e.Server.ErrorID("", ledger.Refusal{Code: oauth.InvalidRequest, Cause: ledger.RequestMalformed}),
			})
			return
		}
	}
	body, err := e.Revocations.Poll(r.Context(), reader, query.Get("after"), time.Duration(atMost)*time.Second)
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
func (e *Endpoints) refuseReader(w http.ResponseWriter, r *http.Request, tried bool, refused *oauth.Error) {
	if tried {
		if wait := e.failures.Take(failureKey("\x00reader", e.ClientIP(r)), e.Now()); wait > 0 {
			e.throttleReader(w, r, wait, refused.ID)
			return
		}
		e.recordFailure(r, security.Reader, "", ledger.Cause(refused.Cause))
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="revocations", charset="UTF-8"`)
	writeError(w, http.StatusUnauthorized, &oauth.Error{
		Code: oauth.InvalidClient, Description: "The name or the secret of the resource server is wrong.", ID: refused.ID,
	})
}

func (e *Endpoints) throttleReader(w http.ResponseWriter, r *http.Request, wait time.Duration, id string) {
	e.recordFailure(r, security.Reader, "", ledger.Throttled)
	writeThrottled(w, wait, id)
}
