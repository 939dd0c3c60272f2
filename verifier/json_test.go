package verifier_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
)

// A string of the payload is read as encoding/json reads it, or refused.
func TestStrings(t *testing.T) {
	tests := []struct {
		name, text string
		ok         bool
	}{
		{"plain", `"user-é-😀"`, true},
		{"every escape", `"\"\\\/\b\f\n\r\t"`, true},
		{"escaped letter", `"\u0041\u00e9\uFFFD"`, true},
		{"surrogate pair", `"\ud83d\uDE00"`, true},
		{"high surrogate alone", `"\ud83d"`, false},
		{"high surrogate and a letter", `"\ud83dx"`, false},
		{"high surrogate and an escaped letter", `"\ud83d\u0041"`, false},
		{"low surrogate first", `"\ude00\ud83d"`, false},
		{"unknown escape", `"\x41"`, false},
		{"upper-case escape", `"\U0041"`, false},
		{"short escape", `"\u41"`, false},
		{"sign in escape", `"\u+041"`, false},
		{"underscore in escape", `"\u0_41"`, false},
		{"raw line break", "\"a\nb\"", false},
		{"raw line break behind an escape", "\"\\n\nb\"", false},
		{"single quotes", `'a'`, false},
		{"not closed", `"a`, false},
		{"not closed behind an escape", `"\n`, false},
		{"backslash at the end", `"\`, false},
	}
	v := newVerifier(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// sub is last, so that an unclosed string runs to the end of the payload.
			payload := strings.TrimSuffix(goodClaims.with(object{"sub": nil}).json(), "}") + `,"sub":` + tt.text
			if !strings.HasPrefix(tt.name, "not closed") && tt.name != "backslash at the end" {
				payload += "}"
			}
			tok := sign("ES256", goodHeader.json(), payload)
			if !tt.ok {
				assert.Equal(t, verifier.ReasonClaims, reason(t, v, tok))
				return
			}
			var want string
			require.NoError(t, json.Unmarshal([]byte(tt.text), &want))
			claims, err := v.Verify(context.Background(), tok)
			require.NoError(t, err)
			assert.Equal(t, want, claims.Subject())
		})
	}
}

// An unknown claim may have any JSON value, and only a JSON value.
func TestUnknownClaimValues(t *testing.T) {
	v := newVerifier(t)
	for _, text := range []string{"0", "-0", "1.5", "-1.5e-7", "1E+3", "true", "false", "null", "[]", "{}", `[1,"a",{"b":[]}]`} {
		_, err := v.Verify(context.Background(), raw(goodClaims.json(), "{", `{"x":`+text+`,`))
		assert.NoError(t, err, text)
	}
	for _, text := range []string{"", "-", "+1", "01", ".5", "1.", "1e", "1e+", "0x1", "Infinity", "-1e400", "tru", "True", "nul", "[1,]", "[1 2]", "[", "{1:2}", `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`} {
		assert.Equal(t, verifier.ReasonClaims, reason(t, v, raw(goodClaims.json(), "{", `{"x":`+text+`,`)), text)
	}
	// An object with more than maxMembers members is refused.
	var many strings.Builder
	for i := range 64 {
		many.WriteString(`"` + strings.Repeat("m", i+1) + `":1,`)
	}
	assert.Equal(t, verifier.ReasonClaims, reason(t, v, raw(goodClaims.json(), "{", "{"+many.String())))
}
