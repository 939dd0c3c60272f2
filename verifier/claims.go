package verifier

import (
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Claims are the claims of a verified access token (RFC 9068 §2.2). Only Verify makes
// them, and nothing changes them: requests with the same token share them.
type Claims struct {
	issuer, subject, clientID, id, grantID string
	audience                               []string
	issuedAt, expiresAt, notBefore         time.Time
	scopeText                              string
	scope                                  scope.Set
	legacy                                 bool
}

// Issuer returns iss: Config.Issuer, or one of Config.MoreIssuers.
func (c *Claims) Issuer() string { return c.issuer }

// Subject returns sub, the user's id.
func (c *Claims) Subject() string { return c.subject }

// Audience returns a copy of aud.
func (c *Claims) Audience() []string { return slices.Clone(c.audience) }

// ClientID returns client_id, the application that acts for the user.
func (c *Claims) ClientID() string { return c.clientID }

// ID returns jti.
func (c *Claims) ID() string { return c.id }

// GrantID returns grant_id, the grant that the token belongs to; empty if absent.
func (c *Claims) GrantID() string { return c.grantID }

// IssuedAt returns iat.
func (c *Claims) IssuedAt() time.Time { return c.issuedAt }

// ExpiresAt returns exp.
func (c *Claims) ExpiresAt() time.Time { return c.expiresAt }

// NotBefore returns nbf; zero if absent.
func (c *Claims) NotBefore() time.Time { return c.notBefore }

// ScopeText returns the scope claim, unchanged.
func (c *Claims) ScopeText() string { return c.scopeText }

// Scope returns the known scopes of the scope claim.
func (c *Claims) Scope() scope.Set { return c.scope }

// Legacy reports whether the token belongs to a legacy client, and is not limited by
// scopes (section 9 of the service document).
func (c *Claims) Legacy() bool { return c.legacy }

// Allows reports whether the token's scopes cover a scope. Those of a legacy token cover
// every scope. A token that is neither legacy nor has a known scope covers none.
func (c *Claims) Allows(name string) bool {
	return c.legacy || c.scope.Covers(name)
}

// AllowsAll reports whether the token's scopes cover all of need.
func (c *Claims) AllowsAll(need scope.Set) bool {
	return c.legacy || c.scope.CoversAll(need)
}

var claimNames = []string{
	"iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "scope", "legacy", "grant_id", "cnf",
}

// parseClaims reads the payload, and checks that required claims are present and of the
// right type. The verifier checks their values.
func parseClaims(text string) (*Claims, error) {
	c := new(Claims)
	var exp, iat, nbf int64
	var hasExp, hasIat, hasNbf bool
	s := scanner{in: text}
	err := s.object(func(name string) (err error) {
		switch name {
		case "iss":
			c.issuer, err = s.text()
		case "sub":
			c.subject, err = s.text()
		case "aud":
			c.audience, err = s.audience()
		case "client_id":
			c.clientID, err = s.text()
		case "jti":
			c.id, err = s.text()
		case "grant_id":
			c.grantID, err = s.text()
		case "scope":
			c.scopeText, err = s.text()
		case "legacy":
			c.legacy, err = s.boolean()
		case "exp":
			exp, err = s.seconds()
			hasExp = true
		case "iat":
			iat, err = s.seconds()
			hasIat = true
		case "nbf":
			nbf, err = s.seconds()
			hasNbf = true
		case "cnf":
			// cnf requires a proof of possession, which can't be checked here (RFC
			// 7800 §3.1).
			return refuse(ReasonClaims, "cnf binds the token to a key")
		default:
			// A claim such as "ISS" is a mistake, or an attack on a reader that ignores
			// letter case.
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
	case err != nil && err != errJSON:
		return nil, err
	case err != nil:
		return nil, refuse(ReasonClaims, "not strict JSON, or a claim of the wrong type")
	case c.issuer == "" || c.subject == "" || c.clientID == "" || c.id == "" || len(c.audience) == 0 || !hasExp || !hasIat:
		return nil, refuse(ReasonClaims, "a required claim is missing")
	case exp <= iat:
		return nil, refuse(ReasonClaims, "exp is not after iat")
	}
	c.scope = scope.FromClaim(c.scopeText)
	c.expiresAt, c.issuedAt = time.Unix(exp, 0), time.Unix(iat, 0)
	if hasNbf {
		c.notBefore = time.Unix(nbf, 0)
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
