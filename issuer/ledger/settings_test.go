package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestPlainHTTP verifies that an address without TLS is valid only on the loopback, or if it
// was accepted.
func TestPlainHTTP(t *testing.T) {
	for origin, plain := range map[string]bool{
		"https://auth.example.com": false, "https://10.0.0.1:8443": false,
		"http://localhost": false, "http://localhost:8080": false, "http://app.localhost:1": false,
		"http://127.0.0.1": false, "http://127.8.8.8:8080": false, "http://[::1]": false, "http://[::1]:8080": false,
		"http://[::ffff:127.0.0.1]:80": false,

		"http://auth.example.com": true, "http://auth.example.com:8080": true, "http://10.0.0.1": true, "http://0.0.0.0:8080": true,
		"http://[::]:80": true, "http://[fd00::1]": true, "http://localhost.example.com": true, "http://notlocalhost": true,
		"http://127.0.0.1.example.com": true, "http://128.0.0.1": true,
	} {
		require.Equal(t, plain, ledger.PlainHTTP(origin), origin)
		for _, field := range []string{"base_url", "app_url"} {
			s := ledger.DefaultSettings()
			s.BaseURL, s.AppURL, s.Audience = "https://auth.example.com", "https://auth.example.com", "a"
			if field == "base_url" {
				s.BaseURL = origin
			} else {
				s.AppURL = origin
			}
			refused, _ := s.Check()
			if want := map[bool]string{true: field}[plain]; refused != want {
				t.Errorf("%s %s: refused is %q", field, origin, refused)
			}
			s.PlainHTTP = true
			refused, note := s.Check()
			require.Empty(t, refused, note)
		}
	}
}
