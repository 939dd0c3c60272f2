package endpoint

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
	"github.com/mintmark-auth/mintmark/issuer/security"
)

// token handles POST /v2/auth/oauth2/token (RFC 6749 §3.2): it parses the request, has it
// decided, and writes the response.
func (e *Endpoints) token(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	body, err := readBody(w, r, oauth.MaxBody)
	if err != nil {
		e.refuseBody(w, err)
		return
	}
	request, refused := parse(r, body, oauth.ParseTokenRequest)
	exposeToScripts(w, request.Client)
	if refused != nil {
		e.refuseMalformed(w, r, request.Client, refused)
		return
	}
	answered, ok := e.tryGuess(w, r, request.Client)
	if !ok {
		return
	}
	response, err := e.Server.Token(r.Context(), request)
	answered(err)
	if errors.As(err, &refused) {
		e.refuse(w, r, request.Client, refused)
		return
	}
	if err != nil {
		e.fail(w, r, err)
		return
	}
	requestlog.Add(r.Context(), slog.String("client", ledger.ClientKey(request.Client.ID)))
	writeJSON(w, http.StatusOK, response)
}

// presentedToken reads and parses a revocation or introspection request, or refuses it. After
// the decision the caller must call answered with the error of the response, as done of
// guessLimiter.try. toScripts lets scripts read the response.
func (e *Endpoints) presentedToken(w http.ResponseWriter, r *http.Request, toScripts bool) (request oauth.PresentedToken, answered func(error), ok bool) {
	body, err := readBody(w, r, oauth.MaxBody)
	if err != nil {
		e.refuseBody(w, err)
		return request, nil, false
	}
	request, refused := parse(r, body, oauth.ParsePresentedToken)
	if toScripts {
		exposeToScripts(w, request.Client)
	}
	if refused != nil {
		e.refuseMalformed(w, r, request.Client, refused)
		return request, nil, false
	}
	answered, ok = e.tryGuess(w, r, request.Client)
	return request, answered, ok
}

// parse parses a request by a parser of package oauth.
func parse[R any](r *http.Request, body []byte, parser func(contentType, authorization string, body []byte) (R, *oauth.Error)) (R, *oauth.Error) {
	authorization := r.Header["Authorization"]
	if len(authorization) > 1 || len(r.Header["Content-Type"]) > 1 {
		var none R
		return none, &oauth.Error{
			Code: oauth.InvalidRequest, Description: "A header that may come once came more than once.",
		}
	}
	header := ""
	if len(authorization) == 1 {
		header = authorization[0]
	}
	return parser(r.Header.Get("Content-Type"), header, body)
}

// refuseMalformed writes an error of the parser.
func (e *Endpoints) refuseMalformed(w http.ResponseWriter, r *http.Request, c oauth.ClientCredentials, refused *oauth.Error) {
	cause := causeOf(refused.Code)
	refused.ID = e.Server.ErrorID(c.ID, ledger.Refusal{Code: refused.Code, Cause: cause, Note: refused.Description})
	refused.Cause = uint16(cause)
	e.refuse(w, r, c, refused)
}

// tryGuess counts the secret of a request as a guess, or responds with 429: see
// guessLimiter.try.
func (e *Endpoints) tryGuess(w http.ResponseWriter, r *http.Request, c oauth.ClientCredentials) (answered func(error), ok bool) {
	wait, answered := e.guesses.try(c, e.ClientIP(r), e.Now())
	if wait > 0 {
		e.recordFailure(r, security.Client, c.ID, ledger.Throttled)
		writeThrottled(w, wait, e.Server.ErrorID(c.ID, ledger.Refusal{Code: oauth.TemporarilyUnavailable, Cause: ledger.Throttled}))
		return nil, false
	}
	return answered, true
}

// readBody reads a body of at most that many bytes.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength > most {
		return nil, &http.MaxBytesError{Limit: most}
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, most))
}

func (e *Endpoints) refuseBody(w http.ResponseWriter, err error) {
	status, text := http.StatusBadRequest, "The body can not be read."
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		status, text = http.StatusRequestEntityTooLarge, fmt.Sprintf("The body is longer than %d KiB.", large.Limit>>10)
	}
	w.Header().Set("Connection", "close")
	refused := &oauth.Error{Code: oauth.InvalidRequest, Description: text}
	refused.ID = e.Server.ErrorID("", ledger.Refusal{Code: refused.Code, Cause: ledger.RequestMalformed})
	writeError(w, status, refused)
}

// causeOf returns the cause of an error of the parser.
func causeOf(c oauth.Code) ledger.Cause {
	switch c {
	case oauth.InvalidTarget:
		return ledger.ResourceRepeated
	case oauth.UnsupportedGrantType:
		return ledger.GrantTypeUnsupported
	case oauth.InvalidClient:
		return ledger.AuthenticationMalformed
	}
	return ledger.RequestMalformed
}

// throttled counts a failure. It writes 429 and returns true if this client has failed too
// often from this address.
func (e *Endpoints) throttled(w http.ResponseWriter, r *http.Request, c oauth.ClientCredentials, refused *oauth.Error) bool {
	if refused.Code != oauth.InvalidClient && (refused.Code != oauth.InvalidGrant || refused.Genuine) {
		return false
	}
	wait := e.failures.Take(failureKey(c.ID, e.ClientIP(r)), e.Now())
	if wait > 0 {
		e.recordFailure(r, security.Client, c.ID, ledger.Throttled)
		writeThrottled(w, wait, refused.ID)
	}
	return wait > 0
}

// refuse writes a refusal (RFC 6749 §5.2), or 429: see throttled.
func (e *Endpoints) refuse(w http.ResponseWriter, r *http.Request, c oauth.ClientCredentials, refused *oauth.Error) {
	if e.throttled(w, r, c, refused) {
		return
	}
	requestlog.Add(r.Context(), slog.String("cause", ledger.Cause(refused.Cause).String()))
	if known := e.Server.View().ClientNamed(c.ID); known != nil {
		requestlog.Add(r.Context(), slog.String("client", known.ID))
	}
	status := http.StatusBadRequest
	if refused.Code == oauth.InvalidClient {
		e.recordFailure(r, security.Client, c.ID, ledger.Cause(refused.Cause))
		status = http.StatusUnauthorized
		if c.Basic {
			w.Header().Set("WWW-Authenticate", `Basic realm="token", charset="UTF-8"`)
		}
	}
	writeError(w, status, refused)
}

func writeThrottled(w http.ResponseWriter, wait time.Duration, id string) {
	w.Header().Set("Retry-After", seconds(wait))
	writeError(w, http.StatusTooManyRequests, &oauth.Error{
		Code: oauth.TemporarilyUnavailable, Description: "There were too many failures. Wait before the next try.", ID: id,
	})
}

// failureKey joins client and address. The ids of agents are hashed, and all others that are
// longer than that of a client share one key, so that long ids can't fill the memory.
func failureKey(client, address string) string {
	if client = ledger.ClientKey(client); len(client) > ledger.MaxID {
		client = ""
	}
	return limit.Network(address) + "\x00" + client
}

// seconds returns d for Retry-After, at least 1.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
