package verifiertest

import (
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
)

// headers adds tokens with a valid signature and a header that an access token can't
// have.
func (c *corpus) headers() {
	own := rawJSON(string(must(marshal(c.key.jwk))))
	for _, t := range []struct {
		name    string
		changes members
		reason  verifier.Reason
		why     string
	}{
		{"typ-missing", members{"typ": nil}, verifier.ReasonType, "RFC 9068 §4: typ is required"},
		{"typ-jwt", members{"typ": "JWT"}, verifier.ReasonType, "RFC 9068 §4: it may be an ID token of the same issuer"},
		{"typ-id-token", members{"typ": "id_token+jwt"}, verifier.ReasonType, "RFC 8725 §3.11"},
		{"typ-logout-token", members{"typ": "logout+jwt"}, verifier.ReasonType, "RFC 8725 §3.11"},
		{"typ-dpop-proof", members{"typ": "dpop+jwt"}, verifier.ReasonType, "RFC 8725 §3.11"},
		{"typ-with-parameter", members{"typ": "at+jwt; v=1"}, verifier.ReasonType, "RFC 9068 §4: exactly at+jwt"},
		{"typ-with-space", members{"typ": "at+jwt "}, verifier.ReasonType, "RFC 9068 §4: exactly at+jwt"},
		{"typ-of-other-tree", members{"typ": "text/at+jwt"}, verifier.ReasonType, "RFC 7515 §4.1.9: application/ may be left out, and nothing else"},
		{"typ-empty", members{"typ": ""}, verifier.ReasonType, "RFC 9068 §4: typ is required"},
		{"typ-null", members{"typ": rawJSON("null")}, verifier.ReasonMalformed, "RFC 7515 §4.1.9: a string"},
		{"typ-application-jwt", members{"typ": "application/jwt"}, verifier.ReasonType, "RFC 9068 §4: exactly at+jwt"},
		{"typ-prefix-twice", members{"typ": "application/application/at+jwt"}, verifier.ReasonType, "RFC 7515 §4.1.9: application/ may be left out, once"},
		{"typ-an-array", members{"typ": []string{"at+jwt"}}, verifier.ReasonMalformed, "RFC 7515 §4.1.9: a string"},
		{"alg-missing", members{"alg": nil}, verifier.ReasonHeader, "RFC 7515 §4.1.1: alg is required"},
		{"alg-empty", members{"alg": ""}, verifier.ReasonHeader, "RFC 7515 §4.1.1"},
		{"alg-none", members{"alg": "none"}, verifier.ReasonAlgorithm, "RFC 8725 §3.2"},
		{"alg-None", members{"alg": "None"}, verifier.ReasonAlgorithm, "RFC 7515 §4.1.1: case-sensitive"},
		{"alg-lower-case", members{"alg": "es256"}, verifier.ReasonAlgorithm, "RFC 7515 §4.1.1: case-sensitive"},
		{"alg-of-another-key", members{"alg": "RS256"}, verifier.ReasonAlgorithm, "RFC 8725 §3.1: the key determines the algorithm"},
		{"alg-HS256", members{"alg": "HS256"}, verifier.ReasonAlgorithm, "RFC 8725 §3.1: the key determines the algorithm"},
		{"alg-ES256K", members{"alg": "ES256K"}, verifier.ReasonAlgorithm, "RFC 8725 §3.1: the key determines the algorithm"},
		{"alg-an-array", members{"alg": []string{"ES256"}}, verifier.ReasonMalformed, "RFC 7515 §4.1.1: a string"},
		{"alg-a-number", members{"alg": 256}, verifier.ReasonMalformed, "RFC 7515 §4.1.1: a string"},
		{"kid-missing", members{"kid": nil}, verifier.ReasonHeader, "profile: with several keys, kid selects the key"},
		{"kid-empty", members{"kid": ""}, verifier.ReasonHeader, "profile"},
		{"kid-unknown", members{"kid": "nobody-has-this"}, verifier.ReasonUnknownKey, "RFC 7515 §4.1.4: the kid names the key"},
		{"kid-a-path", members{"kid": "../../../../dev/null"}, verifier.ReasonUnknownKey, "RFC 8725 §3.10: a kid is a name to look up, not a file"},
		{"kid-an-injection", members{"kid": "' OR '1'='1"}, verifier.ReasonUnknownKey, "RFC 8725 §3.10: a kid is a name to look up, not a query"},
		{"kid-in-other-case", members{"kid": strings.ToUpper(c.key.kid)}, verifier.ReasonUnknownKey, "RFC 7515 §4.1.4: case-sensitive"},
		{"kid-null", members{"kid": rawJSON("null")}, verifier.ReasonMalformed, "RFC 7515 §4.1.4: a string"},
		{"kid-a-number", members{"kid": 1}, verifier.ReasonMalformed, "RFC 7515 §4.1.4: a string"},
		{"jwk", members{"jwk": own}, verifier.ReasonHeader, "RFC 8725 §3.10: the sender must not choose the key, even if it is the right one"},
		{"jku", members{"jku": c.issuer.URL + verifier.KeySetPath}, verifier.ReasonHeader, "RFC 8725 §3.10: the sender must not choose where keys are"},
		{"x5u", members{"x5u": c.issuer.URL + "/x5u"}, verifier.ReasonHeader, "RFC 8725 §3.10"},
		{"x5c", members{"x5c": []string{"MIIB"}}, verifier.ReasonHeader, "RFC 8725 §3.10"},
		{"jwk-in-other-case", members{"JWK": own}, verifier.ReasonHeader, "RFC 7515 §4: names are case-sensitive; some JSON readers ignore case"},
		{"crit-unknown", members{"crit": []string{"shiny"}, "shiny": true}, verifier.ReasonHeader, "RFC 7515 §4.1.11: an unknown extension must be refused"},
		{"crit-of-a-claim", members{"crit": []string{"exp"}}, verifier.ReasonHeader, "RFC 7515 §4.1.11"},
		{"crit-of-a-standard-name", members{"crit": []string{"alg"}}, verifier.ReasonHeader, "RFC 7515 §4.1.11: names of the specification must not be in it"},
		{"crit-empty", members{"crit": []string{}}, verifier.ReasonHeader, "RFC 7515 §4.1.11: must not be empty"},
		{"crit-null", members{"crit": rawJSON("null")}, verifier.ReasonHeader, "RFC 7515 §4.1.11: an array"},
		{"b64-false", members{"b64": false, "crit": []string{"b64"}}, verifier.ReasonHeader, "RFC 7797 §6: not for a JWT"},
		{"b64-false-not-critical", members{"b64": false}, verifier.ReasonHeader, "RFC 7797 §6"},
		{"zip", members{"zip": "DEF"}, verifier.ReasonHeader, "RFC 7516 §4.1.3: of JWE only"},
	} {
		c.add("header-"+t.name, c.withHeader(t.changes), t.reason, t.why)
	}

	h, payload := text(c.header), text(c.claims)
	for _, t := range []struct{ name, header, why string }{
		{"alg-twice", strings.Replace(h, "{", `{"alg":"none",`, 1), "RFC 7515 §4: names are unique"},
		{"kid-twice-escaped", strings.Replace(h, "{", `{"k\u0069d":"x",`, 1), "RFC 7515 §4: names are unique, however spelled"},
		{"two-values", h + h, "RFC 7515 §4: one object"},
		{"garbage-behind", h + "]", "RFC 7515 §4: one object"},
		{"an-array", "[" + h + "]", "RFC 7515 §4: one object"},
		{"a-string", `"` + c.key.kid + `"`, "RFC 7515 §4: one object"},
		{"null", "null", "RFC 7515 §4: one object"},
		{"byte-order-mark", "\ufeff" + h, "RFC 8259 §8.1"},
		{"white-space-before", " " + h, "profile: readers that encode the header again to check the signature lose it"},
		{"white-space-behind", h + "\n", "profile: readers that encode the header again to check the signature lose it"},
		{"trailing-comma", strings.TrimSuffix(h, "}") + ",}", "RFC 8259 §4"},
		{"comment", strings.Replace(h, "{", "{/**/", 1), "RFC 8259 §2"},
		{"single-quotes", strings.ReplaceAll(h, `"`, "'"), "RFC 8259 §7"},
		{"too-deep", strings.Replace(h, "{", `{"x":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+",", 1), "profile: depth is bounded; recursive readers run out of stack"},
		{"invalid-utf-8", strings.Replace(h, "{", "{\"x\":\"\xff\",", 1), "RFC 8259 §8.1"},
	} {
		c.add("header-"+t.name, c.key.seal(t.header, payload), verifier.ReasonMalformed, t.why)
	}
	c.add("header-alg-twice-in-two-cases", c.key.seal(strings.Replace(h, "{", `{"Alg":"none",`, 1), payload), verifier.ReasonHeader,
		"RFC 7515 §4: two readers may use different ones")
}
