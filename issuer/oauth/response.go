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
