package oauth

// A GrantType is a value of the parameter grant_type.
type GrantType string

// Grant types of the token endpoint.
const (
	AuthorizationCode GrantType = "authorization_code" // RFC 6749 §4.1.3
	RefreshToken      GrantType = "refresh_token"      // RFC 6749 §6
)

// MaxBody is the maximum size of the body of a token request, in bytes.
const MaxBody = 64 << 10

// A TokenRequest is a well-formed token request. None of its values has been verified.
type TokenRequest struct {
	GrantType GrantType
	Client    ClientCredentials
	Resource  string // RFC 8707 §2.2; empty if none was sent

	// The next three fields are for AuthorizationCode only.
	Code         string
	RedirectURI  string
	CodeVerifier string // RFC 7636 §4.5; empty if none was sent

	// The next two fields are for RefreshToken only.
	RefreshToken string
	Scope        string // a narrower scope for the access token (RFC 6749 §6); empty for the scope of the grant
}

// wire has every parameter of a token request that this server supports.
type wire struct {
	grantType, clientID, clientSecret, code, redirectURI, codeVerifier, refreshToken, scope, resource string
}

func (w *wire) field(name string) *string {
	switch name {
	case "grant_type":
		return &w.grantType
	case "client_id":
		return &w.clientID
	case "client_secret":
		return &w.clientSecret
	case "code":
		return &w.code
	case "redirect_uri":
		return &w.redirectURI
	case "code_verifier":
		return &w.codeVerifier
	case "refresh_token":
		return &w.refreshToken
	case "scope":
		return &w.scope
	case nameResource:
		return &w.resource
	}
	return nil
}

// ParseTokenRequest parses the body of a token request, a form or JSON, and the client's
// credentials in the body or the Authorization header. If it returns an error, the request
// has the credentials that were read so far, so that the response can have the right
// challenge.
func ParseTokenRequest(contentType, authorization string, body []byte) (TokenRequest, *Error) {
	var w wire
	if err := readBody(contentType, body, w.field); err != nil {
		return TokenRequest{Client: ClientCredentials{Basic: authorization != ""}}, err
	}
	client, err := clientCredentials(authorization, w.clientID, w.clientSecret)
	r := TokenRequest{GrantType: GrantType(w.grantType), Client: client, Resource: w.resource}
	switch {
	case w.grantType == "":
		return r, invalidRequest("The parameter grant_type is missing.")
	case r.GrantType != AuthorizationCode && r.GrantType != RefreshToken:
		return r, &Error{Code: UnsupportedGrantType, Description: "The grant types are authorization_code and refresh_token."}
	case err != nil:
		return r, err
	case client.ID == "":
		return r, invalidRequest("The parameter client_id is missing.")
	}
	switch r.GrantType {
	case AuthorizationCode:
		r.Code, r.RedirectURI, r.CodeVerifier = w.code, w.redirectURI, w.codeVerifier
		switch {
		case r.Code == "":
			return r, invalidRequest("The parameter code is missing.")
		case r.RedirectURI == "":
			return r, invalidRequest("The parameter redirect_uri is missing.")
		}
	case RefreshToken:
		r.RefreshToken, r.Scope = w.refreshToken, w.scope
		if r.RefreshToken == "" {
			return r, invalidRequest("The parameter refresh_token is missing.")
		}
	}
	return r, nil
}
