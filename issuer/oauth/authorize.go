package oauth

import (
	"net/url"
	"strings"
)

// An AuthorizationRequest is an authorization request (RFC 6749 §4.1.1). An error that is
// reported by redirect doesn't stop parsing, so that client and redirection URI can be
// checked first; it is in Fault.
type AuthorizationRequest struct {
	ClientID            string `cbor:"1,keyasint"`
	RedirectURI         string `cbor:"2,keyasint"`
	State               string `cbor:"3,keyasint,omitempty"` // empty if none was sent
	Scope               string `cbor:"4,keyasint,omitempty"` // as sent, separated by spaces or commas
	ResponseType        string `cbor:"5,keyasint,omitempty"`
	CodeChallenge       string `cbor:"6,keyasint,omitempty"`
	CodeChallengeMethod string `cbor:"7,keyasint,omitempty"`
	Resource            string `cbor:"8,keyasint,omitempty"` // RFC 8707 §2.1

	// Registration is the metadata in the client_id of a registered client. The parser leaves
	// it nil.
	Registration *Registration `cbor:"9,keyasint,omitempty"`

	// Fault is the first syntax error that may be reported to the client: a repeated
	// parameter other than client_id and redirect_uri. It ends the request before a
	// command is proposed, so it is not encoded.
	Fault *Error `cbor:"-"`
}

func (r *AuthorizationRequest) field(name string) *string {
	switch name {
	case "client_id":
		return &r.ClientID
	case "redirect_uri":
		return &r.RedirectURI
	case "state":
		return &r.State
	case "scope":
		return &r.Scope
	case "response_type":
		return &r.ResponseType
	case "code_challenge":
		return &r.CodeChallenge
	case "code_challenge_method":
		return &r.CodeChallengeMethod
	case nameResource:
		return &r.Resource
	}
	return nil
}

// MaxQuery is the maximum length of the query of an authorization request, in bytes.
const MaxQuery = 8 << 10

// ParseAuthorizationRequest parses the query of an authorization request. An error means
// that client and redirection URI can't be trusted: it is shown to the user and never
// answered by a redirect (RFC 6749 §4.1.2.1).
func ParseAuthorizationRequest(query string) (AuthorizationRequest, *Error) {
	var r AuthorizationRequest
	if len(query) > MaxQuery {
		return r, invalidRequest("The request is too long.")
	}
	p := parameters{field: r.field}
	stateRepeated := false
	err := p.form(query, func(name string) error {
		switch name {
		case "client_id", "redirect_uri":
			return errRepeated
		case "state":
			stateRepeated = true
		}
		if r.Fault == nil {
			r.Fault = repeated(name)
		}
		return nil
	})
	if stateRepeated {
		r.State = "" // ambiguous, so none is returned
	}
	switch err {
	case nil:
		return r, nil
	case errRepeated:
		return r, invalidRequest("The client or its redirection URI is named more than once.")
	}
	return r, invalidRequest("The request can not be read.")
}

// Query returns the request as a query that ParseAuthorizationRequest parses to the same
// request. It is used in this service's own forms and links only.
func (r *AuthorizationRequest) Query() string {
	var b strings.Builder
	add := func(name, value string) {
		if value == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(name)
		b.WriteByte('=')
		escape(&b, value)
	}
	add("client_id", r.ClientID)
	add("redirect_uri", r.RedirectURI)
	add("response_type", r.ResponseType)
	add("scope", r.Scope)
	add("state", r.State)
	add("code_challenge", r.CodeChallenge)
	add("code_challenge_method", r.CodeChallengeMethod)
	add(nameResource, r.Resource)
	return b.String()
}

// escape appends a value of a query. It escapes only what it must, so that rewriting a
// query of at most MaxQuery bytes doesn't make it longer than that.
func escape(b *strings.Builder, value string) {
	for i := range len(value) {
		switch c := value[i]; {
		case c == ' ':
			b.WriteByte('+')
		case c < ' ' || c >= 0x7f || strings.IndexByte("%&+#", c) >= 0:
			b.WriteString(url.QueryEscape(value[i : i+1]))
		default:
			b.WriteByte(c)
		}
	}
}

// An AuthorizationResponse is sent to the redirection URI: a code or an error (RFC 6749
// §4.1.2, §4.1.2.1), always with the issuer (RFC 9207 §2).
type AuthorizationResponse struct {
	RedirectURI string
	Code        string
	Error       *Error
	State       string
	Issuer      string
}

// Location returns the URI to redirect to. The parameters are added to the query that the
// redirection URI may have (RFC 6749 §3.1.2).
func (r AuthorizationResponse) Location() string {
	var b strings.Builder
	b.WriteString(r.RedirectURI)
	sep := byte('?')
	if strings.Contains(r.RedirectURI, "?") {
		sep = '&'
	}
	add := func(name, value string) {
		b.WriteByte(sep)
		sep = '&'
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(value))
	}
	if r.Error != nil {
		add("error", string(r.Error.Code))
		add("error_description", r.Error.Description)
	} else {
		add("code", r.Code)
	}
	if r.State != "" {
		add("state", r.State)
	}
	add("iss", r.Issuer)
	return b.String()
}
