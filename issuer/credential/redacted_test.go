package credential_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestHandedOutTextsAreNotPrinted prints each type in every way that Go code prints values, on
// its own and inside another struct.
func TestHandedOutTextsAreNotPrinted(t *testing.T) {
	m := mac(t, keyring(t), 1)
	access, err := credential.MintAccess(signer(t), claims())
	require.NoError(t, err)
	type revealer interface{ Reveal() string }
	for name, value := range map[string]revealer{
		"code":          credential.MintCode(m, ledger.CredentialRef{Key: 1}),
		"refresh token": credential.MintRefresh(m, ledger.CredentialRef{Key: 1, Generation: 1}),
		"access token":  access,
		"client secret": credential.NewSecret(rand.Reader),
		"session id":    credential.NewSessionID(rand.Reader),
	} {
		t.Run(name, func(t *testing.T) {
			text := value.Reveal()
			require.Greater(t, len(text), 40)
			piece := text[len(text)-12:]
			absent := func(out string) {
				t.Helper()
				assert.NotContains(t, out, piece)
				assert.NotContains(t, strings.ToLower(out), hex.EncodeToString([]byte(piece)))
				assert.NotContains(t, out, strings.Trim(fmt.Sprint([]byte(piece)), "[]"))
			}
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
				assert.Equal(t, "REDACTED", fmt.Sprintf(verb, value), verb)
				absent(fmt.Sprintf(verb, struct{ v any }{value}))
				absent(fmt.Sprintf(verb, &struct{ v revealer }{value}))
			}
			var page bytes.Buffer
			require.NoError(t, template.Must(template.New("").Parse(`{{.}}<p a="{{.}}">`)).Execute(&page, value))
			absent(page.String())

			out, err := json.Marshal(map[string]any{"v": value})
			require.NoError(t, err)
			assert.JSONEq(t, `{"v":"REDACTED"}`, string(out))

			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", value, "in", struct{ v any }{value})
			slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "v", value, "in", struct{ V any }{value})
			assert.Contains(t, log.String(), "REDACTED")
			absent(log.String())

			assert.False(t, reflect.TypeOf(value).Comparable())
		})
	}

	// fmt can't call the methods of a typed, unexported field.
	refresh := credential.MintRefresh(m, ledger.CredentialRef{Key: 1, Generation: 1})
	response := struct{ refresh credential.RefreshToken }{refresh}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		assert.NotContains(t, fmt.Sprintf(verb, response), refresh.Reveal()[10:30], verb)
	}
	assert.Empty(t, credential.Code{}.Reveal())
}
