package verifiertest

import (
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
)

// times adds tokens of the issuer that are not valid now, or whose times are missing or
// malformed.
func (c *corpus) times() {
	now := c.issuer.Now().Unix()
	claims := func(name string, changes members, reason verifier.Reason, why string) {
		c.add("time-"+name, c.withClaims(changes), reason, why)
	}
	claims("expired-an-hour-ago", members{"iat": now - 5400, "exp": now - 3600}, verifier.ReasonExpired, "RFC 7519 §4.1.4")
	claims("expired-a-minute-ago", members{"iat": now - 1860, "exp": now - 60}, verifier.ReasonExpired, "RFC 7519 §4.1.4; profile: the default skew is 12 s")
	claims("nbf-ahead", members{"nbf": now + 300}, verifier.ReasonNotYetValid, "RFC 7519 §4.1.5")
	claims("iat-ahead", members{"iat": now + 300}, verifier.ReasonNotYetValid, "profile: issued in the future, by a wrong clock or by a forger")
	claims("exp-before-iat", members{"iat": now + 4, "exp": now + 3}, verifier.ReasonClaims, "profile: it was never valid")
	claims("exp-missing", members{"exp": nil}, verifier.ReasonClaims, "RFC 9068 §2.2: exp is required")
	claims("iat-missing", members{"iat": nil}, verifier.ReasonClaims, "RFC 9068 §2.2: iat is required")
	claims("exp-a-string", members{"exp": "4102444800"}, verifier.ReasonClaims, "RFC 7519 §2: a NumericDate is a number")
	claims("exp-a-date", members{"exp": "2100-01-01T00:00:00Z"}, verifier.ReasonClaims, "RFC 7519 §2: a NumericDate is a number")
	claims("exp-true", members{"exp": true}, verifier.ReasonClaims, "RFC 7519 §2: a NumericDate is a number")
	claims("exp-an-array", members{"exp": []int64{now + 60}}, verifier.ReasonClaims, "RFC 7519 §2: a NumericDate is a number")
	claims("nbf-a-string", members{"nbf": "0"}, verifier.ReasonClaims, "RFC 7519 §2: a NumericDate is a number")
	for _, t := range []struct{ name, number, why string }{
		{"null", "null", "RFC 7519 §2: a NumericDate is a number"},
		{"zero", "0", "RFC 7519 §4.1.4: in the past; some readers treat 0 as absent"},
		{"negative", "-1", "RFC 7519 §4.1.4: in the past"},
		{"negative-zero", "-0", "profile: a plain number of seconds"},
		{"NaN", "NaN", "RFC 8259 §6"},
		{"infinite", "Infinity", "RFC 8259 §6"},
		{"beyond-float64", "1e400", "RFC 8259 §6: readers disagree about its value"},
		{"exponent", "9e9", "profile: a plain number of seconds"},
		{"fraction", "4102444800.5", "profile: whole seconds; readers round it differently"},
		{"fraction-of-zero", "4102444800.0", "profile: a plain number of seconds"},
		{"leading-zero", "04102444800", "RFC 8259 §6"},
		{"plus-sign", "+4102444800", "RFC 8259 §6"},
		{"hexadecimal", "0xF4865700", "RFC 8259 §6"},
		{"in-milliseconds", "4102444800000", "profile: beyond the year 9999, so not seconds"},
		{"beyond-int64", "99999999999999999999", "readers disagree about its value: in some it overflows"},
	} {
		c.add("time-exp-"+t.name, c.withNumber("exp", t.number), verifier.ReasonClaims, t.why)
	}
	for _, t := range []struct{ name, number, why string }{
		{"null", "null", "RFC 7519 §2: a NumericDate is a number"},
		{"a-string", `"0"`, "RFC 7519 §2: a NumericDate is a number"},
		{"negative", "-1", "profile: no token was issued before 1970; in some readers it overflows into the far future"},
		{"negative-beyond-int64", "-99999999999999999999", "readers disagree about its value: in some it overflows"},
		{"fraction", "1.5", "profile: whole seconds"},
		{"beyond-float64", "-1e400", "RFC 8259 §6: readers disagree about its value"},
	} {
		c.add("time-iat-"+t.name, c.withNumber("iat", t.number), verifier.ReasonClaims, t.why)
	}
}

// identities adds tokens of the issuer that are from, for or about someone else, or whose
// identities are missing or malformed.
func (c *corpus) identities() {
	iss := c.issuer.URL
	for _, t := range []struct {
		name    string
		changes members
		reason  verifier.Reason
		why     string
	}{
		{"iss-missing", members{"iss": nil}, verifier.ReasonClaims, "RFC 9068 §2.2: iss is required"},
		{"iss-empty", members{"iss": ""}, verifier.ReasonClaims, "RFC 9068 §4"},
		{"iss-another", members{"iss": "https://attacker.example"}, verifier.ReasonIssuer, "RFC 9068 §4: exactly the issuer's"},
		{"iss-trailing-slash", members{"iss": iss + "/"}, verifier.ReasonIssuer, "RFC 9068 §4: exactly the issuer's"},
		{"iss-longer-host", members{"iss": iss + ".attacker.example"}, verifier.ReasonIssuer, "RFC 9068 §4: a prefix is not equal"},
		{"iss-shorter", members{"iss": iss[:len(iss)-1]}, verifier.ReasonIssuer, "RFC 9068 §4: exactly the issuer's"},
		{"iss-upper-case", members{"iss": strings.ToUpper(iss)}, verifier.ReasonIssuer, "RFC 9068 §4: exactly the issuer's"},
		{"iss-an-array", members{"iss": []string{iss}}, verifier.ReasonClaims, "RFC 7519 §4.1.1: a string"},
		{"aud-missing", members{"aud": nil}, verifier.ReasonClaims, "RFC 9068 §2.2: aud is required"},
		{"aud-empty", members{"aud": ""}, verifier.ReasonAudience, "RFC 9068 §4"},
		{"aud-another", members{"aud": "https://other.example.com"}, verifier.ReasonAudience, "RFC 9068 §4: for another service"},
		{"aud-longer", members{"aud": Audience + "/v2"}, verifier.ReasonAudience, "RFC 9068 §4: a prefix is not equal"},
		{"aud-upper-case", members{"aud": strings.ToUpper(Audience)}, verifier.ReasonAudience, "RFC 9068 §4: exactly the audience"},
		{"aud-joined", members{"aud": "https://other.example.com " + Audience}, verifier.ReasonAudience, "RFC 7519 §4.1.3: an array, not a list in a string"},
		{"aud-empty-array", members{"aud": []string{}}, verifier.ReasonClaims, "RFC 9068 §4"},
		{"aud-array-of-others", members{"aud": []string{"a", "b"}}, verifier.ReasonAudience, "RFC 9068 §4"},
		{"aud-array-with-a-number", members{"aud": []any{Audience, 1}}, verifier.ReasonClaims, "RFC 7519 §4.1.3: an array of strings"},
		{"aud-array-in-array", members{"aud": []any{[]string{Audience}}}, verifier.ReasonClaims, "RFC 7519 §4.1.3: an array of strings"},
		{"aud-array-with-null", members{"aud": []any{Audience, nil}}, verifier.ReasonClaims, "RFC 7519 §4.1.3: an array of strings"},
		{"aud-true", members{"aud": true}, verifier.ReasonClaims, "RFC 7519 §4.1.3"},
		{"aud-an-object", members{"aud": members{"0": Audience}}, verifier.ReasonClaims, "RFC 7519 §4.1.3"},
		{"aud-null", members{"aud": rawJSON("null")}, verifier.ReasonClaims, "RFC 7519 §4.1.3"},
		{"sub-missing", members{"sub": nil}, verifier.ReasonClaims, "RFC 9068 §2.2: sub is required"},
		{"sub-empty", members{"sub": ""}, verifier.ReasonClaims, "profile: names no user"},
		{"sub-a-number", members{"sub": 1}, verifier.ReasonClaims, "RFC 7519 §4.1.2: a string"},
		{"sub-null", members{"sub": rawJSON("null")}, verifier.ReasonClaims, "RFC 7519 §4.1.2: a string"},
		{"client_id-missing", members{"client_id": nil}, verifier.ReasonClaims, "RFC 9068 §2.2: client_id is required"},
		{"client_id-empty", members{"client_id": ""}, verifier.ReasonClaims, "profile: names no client"},
		{"client_id-an-array", members{"client_id": []string{"client-1"}}, verifier.ReasonClaims, "RFC 8693 §4.3: a string"},
		{"jti-missing", members{"jti": nil}, verifier.ReasonClaims, "RFC 9068 §2.2: jti is required"},
		{"jti-empty", members{"jti": ""}, verifier.ReasonClaims, "profile: names no token"},
		{"jti-a-number", members{"jti": 7}, verifier.ReasonClaims, "RFC 7519 §4.1.7: a string"},
		{"scope-an-array", members{"scope": []string{"PROFILE_READ"}}, verifier.ReasonClaims, "RFC 8693 §4.2: a string"},
		{"legacy-a-string", members{"legacy": "true"}, verifier.ReasonClaims, "profile: a boolean; a string that is read as true would allow everything"},
		{"legacy-one", members{"legacy": 1}, verifier.ReasonClaims, "profile: a boolean"},
		{"cnf-of-dpop", members{"cnf": members{"jkt": strings.Repeat("A", 43)}}, verifier.ReasonClaims, "RFC 9449 §7.2: bound to a key: not a bearer token"},
		{"cnf-of-mtls", members{"cnf": members{"x5t#S256": strings.Repeat("A", 43)}}, verifier.ReasonClaims, "RFC 8705 §3: bound to a certificate: not a bearer token"},
	} {
		c.add("claim-"+t.name, c.withClaims(t.changes), t.reason, t.why)
	}
}
