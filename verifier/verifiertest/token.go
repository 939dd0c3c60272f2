package verifiertest

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// draft is a token before it is signed. Members that are nil are omitted.
type draft struct {
	header, claims map[string]any
	key            *key
	now            time.Time
}

// Option changes a token before it is signed.
type Option func(*draft)

// Token mints a token of user "user-1" for client "client-1", valid for half an hour and
// without a scope. Options change it.
func (i *Issuer) Token(options ...Option) string {
	d := i.draft()
	for _, o := range options {
		o(d)
	}
	return d.key.seal(text(d.header), text(d.claims))
}

// Sign signs any two texts, valid or not, as header and payload of a JWS.
func (i *Issuer) Sign(header, payload string) string { return i.signer().seal(header, payload) }

func (i *Issuer) draft() *draft {
	now, k := i.Now(), i.signer()
	return &draft{
		header: map[string]any{"typ": "at+jwt", "alg": k.alg, "kid": k.kid},
		claims: map[string]any{
			"iss": i.URL, "aud": Audience, "sub": "user-1", "client_id": "client-1", "jti": i.nextID(), "grant_id": "grant-1",
			"iat": now.Unix(), "exp": now.Unix() + 1800, "scope": "", "legacy": false,
		},
		key: k, now: now,
	}
}

// seal signs any two texts, valid or not, as header and payload.
func (k *key) seal(header, payload string) string {
	return k.sealParts(b64([]byte(header)), b64([]byte(payload)))
}

// sealParts signs two parts that are already encoded, without a change.
func (k *key) sealParts(header, payload string) string {
	signed := header + "." + payload
	return signed + "." + b64(k.sign(signed))
}

// text returns the JSON of members, without those that are nil.
func text(members map[string]any) string {
	there := maps.Clone(members)
	maps.DeleteFunc(there, func(_ string, value any) bool { return value == nil })
	return string(must(json.Marshal(there)))
}

// Scope sets the token's scopes. It panics on a scope that isn't in the catalogue;
// Claim("scope", ...) accepts any text.
func Scope(names ...string) Option {
	scope.MustOf(names...)
	return Claim("scope", strings.Join(names, " "))
}

// Legacy makes a token of a legacy client, which is not limited by scopes.
func Legacy() Option { return Claim("legacy", true) }

// Subject sets the user.
func Subject(id string) Option { return Claim("sub", id) }

// ClientID sets the application.
func ClientID(id string) Option { return Claim("client_id", id) }

// ForAudience sets aud: one string, or an array of several.
func ForAudience(audience ...string) Option {
	if len(audience) == 1 {
		return Claim("aud", audience[0])
	}
	return Claim("aud", audience)
}

// Expired makes a token that expired an hour ago.
func Expired() Option {
	return func(d *draft) {
		d.claims["iat"], d.claims["exp"] = d.now.Unix()-5400, d.now.Unix()-3600
	}
}

// ExpiresIn sets the lifetime.
func ExpiresIn(lifetime time.Duration) Option {
	return func(d *draft) { d.claims["exp"] = d.now.Add(lifetime).Unix() }
}

// Claim sets any claim to any value; nil omits the claim.
func Claim(name string, value any) Option { return func(d *draft) { d.claims[name] = value } }

// Header sets any member of the JOSE header; nil omits the member. The key that signs does
// not depend on alg and kid.
func Header(name string, value any) Option { return func(d *draft) { d.header[name] = value } }
