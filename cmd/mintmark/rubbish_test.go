package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestRubbishCostsNoLog sends 10,000 invalid requests to the token endpoint. None causes
// a server error or a log entry, and the credentials used in them stay valid.
func TestRubbishCostsNoLog(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	held := ts.tokens("cal-app")
	code := ts.code("cal-app")
	ts.trailMarked()
	state, _ := ts.s.Node.Checksum()

	const kinds = 10_000
	r := rand.New(rand.NewPCG(1, 2))
	for i := range kinds {
		contentType, authorization, body := rubbish(r, held.Refresh, code)
		headers := []string{"Content-Type", contentType}
		if authorization != "" {
			headers = append(headers, "Authorization", authorization)
		}
		a := ts.request(http.MethodPost, oauth.PathToken, body, headers...)
		require.Contains(t, []int{400, 401, 429}, a.Status, "kind %d: %q %q: %s", i, contentType, body, a.Body)
	}

	after, _ := ts.s.Node.Checksum()
	require.Equal(t, state, after, "a command was logged: the state has a command counter")

	// The generated secret is used, since guesses at the weak one were limited.
	tokensOf(t, ts.form("grant_type", "refresh_token", "refresh_token", held.Refresh, "client_id", "cal-app", "client_secret", generatedSecret))
	tokensOf(t, ts.form("grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_id", "cal-app", "client_secret", generatedSecret))
}

// rubbish returns a request that must be refused. Some are almost valid.
func rubbish(r *rand.Rand, refresh, code string) (contentType, authorization, body string) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	noise := func(n int) string {
		b := make([]byte, r.IntN(n))
		for i := range b {
			b[i] = byte(r.UintN(256))
		}
		return string(b)
	}
	flip := func(s string) string {
		b := []byte(s)
		i := 4 + r.IntN(len(b)-4)
		if b[i] ^= 1; b[i] == s[i] {
			b[i]++
		}
		return string(b)
	}
	contentType = pick("application/x-www-form-urlencoded", "application/x-www-form-urlencoded", "application/json", "text/plain", "", "a/b;;;")
	authorization = pick("", "", "", "Basic", "Basic !!", "Bearer x", basicAuth("cal-app", "wrong"), basicAuth(noise(9), noise(9)))
	switch r.IntN(8) {
	case 0:
		body = noise(300)
	case 1:
		body = encode("grant_type", "refresh_token", "client_id", "cal-app", "client_secret", "cal-app-secret", "refresh_token", flip(refresh))
	case 2:
		body = encode("grant_type", "authorization_code", "client_id", "cal-app", "client_secret", "cal-app-secret", "code", flip(code), "redirect_uri", callback)
	case 3:
		// A genuine credential with a wrong secret or another client.
		body = encode("grant_type", "refresh_token", "client_id", pick("cal-app", "other-app", "nobody"), "client_secret", "wrong"+fmt.Sprint(r.Int()), "refresh_token", refresh)
	case 4:
		body = encode("grant_type", "authorization_code", "client_id", "cal-app", "client_secret", "cal-app-secret", "code", code, "redirect_uri", callback+fmt.Sprint(r.Int()))
	case 5:
		body = encode("grant_type", pick("password", "client_credentials", "", noise(8)), "client_id", "cal-app", "client_secret", "cal-app-secret", "refresh_token", refresh)
	case 6:
		body = `{"grant_type":"refresh_token","client_id":"cal-app","client_secret":` + pick(`null`, `1`, `"wrong"`, `["cal-app-secret"]`, `{}`) + `,"refresh_token":"` + refresh + `"}` + pick("", "}", "{}")
	case 7:
		body = encode("grant_type", "refresh_token", "client_id", "cal-app", "client_secret", "cal-app-secret", "refresh_token", pick(code, strings.ToUpper(refresh), refresh+"=", " "+refresh, refresh+"\x00"))
	}
	if authorization == "" && contentType == "application/json" && strings.Contains(body, "=") {
		contentType = "application/x-www-form-urlencoded"
	}
	return contentType, authorization, body
}
