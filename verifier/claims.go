package verifier

import (
	"time"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Claims are what a verified access token says (RFC 9068 §2.2). They may be
// shared between requests: read them, don't change them.
type Claims struct {
	Issuer    string
	Subject   string // the user's id
	Audience  []string
	ClientID  string
	ID        string // jti
	GrantID   string // the user's "Allow" behind the token; empty if not said
	IssuedAt  time.Time
	ExpiresAt time.Time
	NotBefore time.Time // zero if not said
	ScopeText string    // the scope claim as it stands
	Scope     scope.Set // the known scopes of it
	Legacy    bool      // of a client from before scopes: not limited by them
}

// Allows reports whether the token opens what the scope opens. A legacy token
// opens everything; a token that is neither legacy nor has a known scope opens
// nothing.
func (c *Claims) Allows(name string) bool {
	return c.Legacy || c.Scope.Covers(name)
}

// AllowsAll reports whether the token opens what all of need opens.
func (c *Claims) AllowsAll(need scope.Set) bool {
	return c.Legacy || c.Scope.CoversAll(need)
}

var claimNames = []string{
	"iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "scope", "legacy", "grant_id", "cnf",
}

// parseClaims reads the payload and checks that what must be there is, in its
// type. Whether the values are acceptable is the verifier's to say.
func parseClaims(text string) (*Claims, error) {
	c := new(Claims)
	var exp, iat, nbf int64
	var hasExp, hasIat, hasNbf bool
	s := scanner{in: text}
	err := s.object(func(name string) (err error) {
		switch name {
		case "iss":
			c.Issuer, err = s.text()
		case "sub":
			c.Subject, err = s.text()
		case "aud":
			c.Audience, err = s.audience()
		case "client_id":
			c.ClientID, err = s.text()
		case "jti":
			c.ID, err = s.text()
		case "grant_id":
			c.GrantID, err = s.text()
		case "scope":
			c.ScopeText, err = s.text()
		case "legacy":
			c.Legacy, err = s.boolean()
		case "exp":
			exp, err = s.seconds()
			hasExp = true
		case "iat":
			iat, err = s.seconds()
			hasIat = true
		case "nbf":
			nbf, err = s.seconds()
			hasNbf = true
		default:
			// "ISS" is a mistake or an attack on a lenient reader. cnf binds the
			// token to a key whose proof we can't check (RFC 7800 §3.1), so it
			// is no bearer token.
			if isAmong(name, claimNames) {
				return errJSON
			}
			err = s.value()
		}
		return err
	})
	if err == nil {
		err = s.end()
	}
	switch {
	case err != nil:
		return nil, refuse(ReasonClaims, "not strict JSON, or a claim of the wrong type")
	case c.Issuer == "" || c.Subject == "" || c.ClientID == "" || c.ID == "" || len(c.Audience) == 0 || !hasExp || !hasIat:
		return nil, refuse(ReasonClaims, "a required claim is missing")
	case exp <= iat:
		return nil, refuse(ReasonClaims, "exp is not after iat")
	}
	c.Scope = scope.FromClaim(c.ScopeText)
	c.ExpiresAt, c.IssuedAt = time.Unix(exp, 0), time.Unix(iat, 0)
	if hasNbf {
		c.NotBefore = time.Unix(nbf, 0)
	}
	return c, nil
}

// audience reads aud: one string, or an array of strings (RFC 7519 §4.1.3).
func (s *scanner) audience() ([]string, error) {
	if s.peek() == '"' {
		one, err := s.text()
		return []string{one}, err
	}
	var several []string
	err := s.array(func() error {
		one, err := s.text()
		several = append(several, one)
		return err
	})
	return several, err
}
