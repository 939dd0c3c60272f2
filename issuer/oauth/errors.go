package oauth

import (
	"errors"
	"fmt"
)

// A Code is an OAuth 2.0 error code, the value of the member or parameter "error" of a
// response or redirect.
type Code string

// Error codes, each with the section that defines it.
const (
	InvalidRequest          Code = "invalid_request"           // RFC 6749 §4.1.2.1, §5.2; RFC 6750 §3.1
	InvalidClient           Code = "invalid_client"            // RFC 6749 §5.2
	InvalidGrant            Code = "invalid_grant"             // RFC 6749 §5.2
	UnauthorizedClient      Code = "unauthorized_client"       // RFC 6749 §4.1.2.1, §5.2
	UnsupportedGrantType    Code = "unsupported_grant_type"    // RFC 6749 §5.2
	UnsupportedResponseType Code = "unsupported_response_type" // RFC 6749 §4.1.2.1
	UnsupportedTokenType    Code = "unsupported_token_type"    // RFC 7009 §2.2.1
	InvalidScope            Code = "invalid_scope"             // RFC 6749 §4.1.2.1, §5.2
	AccessDenied            Code = "access_denied"             // RFC 6749 §4.1.2.1
	ServerError             Code = "server_error"              // RFC 6749 §4.1.2.1
	TemporarilyUnavailable  Code = "temporarily_unavailable"   // RFC 6749 §4.1.2.1, by analogy at the token endpoint
	InvalidToken            Code = "invalid_token"             // RFC 6750 §3.1
	InvalidTarget           Code = "invalid_target"            // RFC 8707 §2
	InvalidRedirectURI      Code = "invalid_redirect_uri"      // RFC 7591 §3.2.2
	InvalidClientMetadata   Code = "invalid_client_metadata"   // RFC 7591 §3.2.2
)

// An Error is a refused request. Its description is sent to the client: it never repeats a
// value of the request and contains only the characters that RFC 6749 §5.2 permits.
type Error struct {
	Code        Code
	Description string
	// ID is the error_id: the exact cause, sealed for the client's owner. It is empty
	// until the response is made.
	ID string
	// Cause is the ledger.Cause of the refusal, for this node's log. It is never sent. 0
	// until the response is made.
	Cause uint16
	// Genuine reports that the code or token was issued by this server to the client, which
	// authenticated or is public. Such a request is not counted as a guess.
	Genuine bool
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Description }

// ErrUnavailable reports that nothing could be decided now: there is no leader, a queue is
// full, or the outcome of an earlier attempt could not be determined in time. The response
// is 503 with Retry-After, and the client's credentials stay valid.
var ErrUnavailable = errors.New("temporarily unavailable")

// ErrOutcomeUnknown is an ErrUnavailable for a request that may have been decided. A refresh
// can be retried safely; an authorization code may be spent.
var ErrOutcomeUnknown = fmt.Errorf("%w: outcome unknown", ErrUnavailable)

// ErrSecretCorrect is joined to an error of a request whose client secret was found correct before
// the request failed.
var ErrSecretCorrect = errors.New("secret correct")

func invalidRequest(description string) *Error {
	return &Error{Code: InvalidRequest, Description: description}
}
