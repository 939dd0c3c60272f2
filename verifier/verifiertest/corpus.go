package verifiertest

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
)

// OddToken is a token that no verifier of RFC 9068 access tokens may accept. Unless the
// signature is what is wrong, it is the issuer's signature: only the check that the token
// is about can refuse it.
type OddToken struct {
	Name   string          // stable
	Why    string          // what is wrong, and the rule that it breaks
	Token  string          // verified with the issuer's key set, for Audience
	Reason verifier.Reason // with which package verifier refuses it
}

// Corpus returns odd tokens of an issuer, to test any verifier that knows the issuer's
// key set, and expects its URL as iss and Audience in aud. Test with a good token of
// [Issuer.Token] too: a verifier that refuses everything passes otherwise. Corpus panics
// unless the issuer signs with ES256.
//
// The corpus follows the profile of this module: RFC 9068 with RFC 8725, and one spelling
// of everything. For the few entries that only the profile forbids, Why begins with
// "profile".
func Corpus(i *Issuer) []OddToken {
	c := &corpus{issuer: i, key: i.signer()}
	if c.key.alg != verifier.ES256 {
		panic("verifiertest.Corpus: the issuer doesn't sign with ES256")
	}
	d := i.draft()
	c.header, c.claims = d.header, d.claims
	c.claims["scope"] = "PROFILE_READ"
	c.spelling()
	c.headers()
	c.signatures()
	c.times()
	c.identities()
	c.payloads()
	return c.tokens
}

// corpus collects tokens that differ from a good one.
type corpus struct {
	issuer         *Issuer
	key            *key
	header, claims map[string]any // of the good token; not changed
	tokens         []OddToken
}

// members are changes to a JSON object; nil removes a member.
type members map[string]any

func (c *corpus) add(name, token string, reason verifier.Reason, why string) {
	c.tokens = append(c.tokens, OddToken{name, why, token, reason})
}

// good returns a new good token.
func (c *corpus) good() string { return c.key.seal(text(c.header), text(c.claims)) }

// withHeader, withClaims and withPayload return a good token with one part changed.
func (c *corpus) withHeader(changes members) string {
	return c.key.seal(text(changed(c.header, changes)), text(c.claims))
}

func (c *corpus) withClaims(changes members) string {
	return c.key.seal(text(c.header), text(changed(c.claims, changes)))
}

func (c *corpus) withPayload(payload string) string { return c.key.seal(text(c.header), payload) }

// withFirst returns a good token with a member, as text, before all others of the
// payload.
func (c *corpus) withFirst(member string) string {
	return c.withPayload("{" + member + "," + text(c.claims)[1:])
}

// withNumber returns a good token with the text of a number in a claim, for numbers that
// encoding/json can't write.
func (c *corpus) withNumber(claim, number string) string {
	return c.withPayload(`{"` + claim + `":` + number + "," + text(changed(c.claims, members{claim: nil}))[1:])
}

func changed(object map[string]any, changes members) map[string]any {
	object = maps.Clone(object)
	for name, value := range changes {
		object[name] = value
	}
	return object
}

func parts(token string) (header, payload, signature string) {
	p := strings.Split(token, ".")
	return p[0], p[1], p[2]
}

func rawJSON(text string) json.RawMessage { return json.RawMessage(text) }
