package oauth

import (
	"errors"
	"fmt"
)

// A Code is an error code of OAuth 2.0, as it stands in the "error" member
// of an answer or the "error" parameter of a redirect.
type Code string

// Error codes, each with the section that defines it.
const (
	InvalidRequest          Code = "invalid_request"           // RFC 6749 §4.1.2.1, §5.2; RFC 6750 §3.1
	InvalidClient           Code = "invalid_client"            // RFC 6749 §5.2
	InvalidGrant            Code = "invalid_grant"             // RFC 6749 §5.2
	UnauthorizedClient      Code = "unauthorized_client"       // RFC 6749 §4.1.2.1, §5.2
	UnsupportedGrantType    Code = "unsupported_grant_type"    // RFC 6749 §5.2
	UnsupportedResponseType Code = "unsupported_response_type" // RFC 6749 §4.1.2.1
	InvalidScope            Code = "invalid_scope"             // RFC 6749 §4.1.2.1, §5.2
	AccessDenied            Code = "access_denied"             // RFC 6749 §4.1.2.1
	ServerError             Code = "server_error"              // RFC 6749 §4.1.2.1
	TemporarilyUnavailable  Code = "temporarily_unavailable"   // RFC 6749 §4.1.2.1, by analogy at the token endpoint
	InvalidToken            Code = "invalid_token"             // RFC 6750 §3.1
)

// An Error is a request refused for what it says, before anything was asked
// of the ledger. Its description is fit for the client: it never repeats a
// value of the request and holds only the characters that RFC 6749 §5.2
// allows.
type Error struct {
	Code        Code
	Description string
	// ID is the error_id: the exact cause, sealed for the client's owner.
	// Empty until the answer is made.
	ID string
	// Cause is the ledger.Cause of the refusal, for the node's own log. It is never in
	// the answer. 0 until the answer is made.
	Cause uint16
	// Genuine reports that the code or refresh token was made by this server, and that
	// its client authenticated or is public. Such a request is no guess.
	Genuine bool
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Description }

// ErrUnavailable says that nothing could be decided now: there is no leader,
// a queue is full, or whether an earlier try was accepted can't be told in
// time. It is answered 503 with Retry-After, and nothing that the caller
// holds is burnt.
var ErrUnavailable = errors.New("temporarily unavailable")

// ErrOutcomeUnknown is an ErrUnavailable of a request that may have been
// decided all the same. To repeat a refresh is safe; a code may be spent.
var ErrOutcomeUnknown = fmt.Errorf("%w, and whether it was decided can't be told", ErrUnavailable)

func invalidRequest(description string) *Error {
	return &Error{Code: InvalidRequest, Description: description}
}
