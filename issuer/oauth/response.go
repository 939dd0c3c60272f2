package oauth

// A TokenResponse is a token response (RFC 6749 §5.1) with exactly the five members of the
// service document, section 2.3.
type TokenResponse struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	TokenType    string `json:"token_type"` // always "bearer"
	ExpiresIn    int    `json:"expires_in"` // seconds
	Scope        string `json:"scope"`      // single spaces; empty for a legacy grant
}

// TokenTypeBearer is the token_type of every response (RFC 6750).
const TokenTypeBearer = "bearer"

// AccessTokenLifetime is fixed by the service document, section 8, in seconds.
const AccessTokenLifetime = 1800

// An Introspection is an introspection response (RFC 7662 §2.2). An inactive one has no
// other member than active.
type Introspection struct {
	Active bool `json:"active"`
	*ActiveToken
}

// An ActiveToken is what an introspection tells about an active token. TokenType, Audience
// and ID are empty for a refresh token.
type ActiveToken struct {
	Scope     string `json:"scope"`
	ClientID  string `json:"client_id"`
	TokenType string `json:"token_type,omitempty"`
	ExpiresAt int64  `json:"exp"` // Unix seconds
	IssuedAt  int64  `json:"iat"`
	Subject   string `json:"sub"`
	Audience  string `json:"aud,omitempty"`
	Issuer    string `json:"iss"`
	ID        string `json:"jti,omitempty"`
	Legacy    bool   `json:"legacy"`
	GrantID   string `json:"grant_id"`
}
