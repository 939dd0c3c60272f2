package verifiertest

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
)

// OddToken is a token that no verifier of RFC 9068 access tokens may accept.
// Where the oddity isn't the signature, its signature is the issuer's: only the
// check that it is about can refuse it.
type OddToken struct {
	Name   string          // stable
	Why    string          // what is odd about it, and who says so
	Token  string          // to be verified with the issuer's key set, for Audience
	Reason verifier.Reason // what package verifier says of it
}

// Corpus returns odd tokens of an issuer, for the test of any verifier that
// knows the issuer's key set, expects its URL as iss and Audience among aud.
// Beside them Token gives one that must be accepted: a verifier that refuses
// everything passes otherwise. It panics unless the issuer signs with ES256.
//
// What it asks for is the profile of this module, which is RFC 9068 with RFC 8725
// and one spelling of everything. A few entries are a matter of that profile
// alone; their Why says "profile".
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
	header, claims map[string]any // of the good one; not changed
	tokens         []OddToken
}

// members are changes to a JSON object; nil takes a member away.
type members map[string]any

func (c *corpus) add(name, token string, reason verifier.Reason, why string) {
	c.tokens = append(c.tokens, OddToken{name, why, token, reason})
}

// good is a good token, new each time.
func (c *corpus) good() string { return c.key.seal(text(c.header), text(c.claims)) }

// withHeader, withClaims and withPayload are good but for what they are named
// after.
func (c *corpus) withHeader(changes members) string {
	return c.key.seal(text(changed(c.header, changes)), text(c.claims))
}

func (c *corpus) withClaims(changes members) string {
	return c.key.seal(text(c.header), text(changed(c.claims, changes)))
}

func (c *corpus) withPayload(payload string) string { return c.key.seal(text(c.header), payload) }

// withFirst has a member, as text, before all others of the payload.
func (c *corpus) withFirst(member string) string {
	return c.withPayload("{" + member + "," + text(c.claims)[1:])
}

// withNumber has a number in a claim that JSON or Go might not print so.
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

// parts of a token.
func parts(token string) (header, payload, signature string) {
	p := strings.Split(token, ".")
	return p[0], p[1], p[2]
}

func rawJSON(text string) json.RawMessage { return json.RawMessage(text) }
