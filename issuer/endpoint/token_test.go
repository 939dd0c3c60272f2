package endpoint_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
)

const (
	goodForm  = "grant_type=refresh_token&refresh_token=t&client_id=app"
	secretMMS = "mms_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" // in the form of a generated secret
)

func basic(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }

// TestToken covers RFC 6749 §5.1.
func TestToken(t *testing.T) {
	s := newTestServer(t, nil)
	s.response = oauth.TokenResponse{AccessToken: "a", RefreshToken: "r", TokenType: oauth.TokenTypeBearer, ExpiresIn: 1800}
	w := s.refresh("app", "secret")
	require.Equal(t, http.StatusOK, w.Code)
	require.JSONEq(t, `{"access_token":"a","refresh_token":"r","token_type":"bearer","expires_in":1800,"scope":""}`, w.Body.String())
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	require.Equal(t, "no-cache", w.Header().Get("Pragma"))
	require.Equal(t, []oauth.TokenRequest{{
		GrantType: oauth.RefreshToken, RefreshToken: "t", Client: oauth.ClientCredentials{ID: "app", Secret: "secret"},
	}}, s.requests)
	s.post(strings.NewReader("grant_type=refresh_token&refresh_token=t"), "Content-Type", typeForm, "Authorization", basic("app:secret"))
	require.Equal(t, oauth.ClientCredentials{ID: "app", Secret: "secret", Basic: true}, s.requests[1].Client)
	require.Empty(t, s.failures)
}

// TestTokenRefused covers RFC 6749 §5.2: only a client that failed to authenticate gets
// 401, and a challenge only if it used the Authorization header.
func TestTokenRefused(t *testing.T) {
	for _, c := range []struct {
		name      string
		header    string
		refused   oauth.Error
		status    int
		challenge string
		recorded  []string
	}{
		{
			"another's token", "",
			oauth.Error{Code: oauth.InvalidGrant, Cause: uint16(ledger.NotACredential)},
			http.StatusBadRequest, "", nil,
		},
		{
			"a wrong secret", "",
			oauth.Error{Code: oauth.InvalidClient, Cause: uint16(ledger.SecretWrong)},
			http.StatusUnauthorized, "",
			[]string{fmt.Sprint("client_authentication ", ledger.SecretWrong)},
		},
		{
			"a wrong secret in the header", basic("app:wrong"),
			oauth.Error{Code: oauth.InvalidClient, Cause: uint16(ledger.SecretWrong)},
			http.StatusUnauthorized, `Basic realm="token", charset="UTF-8"`,
			[]string{fmt.Sprint("client_authentication ", ledger.SecretWrong)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestServer(t, nil)
			s.err = &c.refused
			form := goodForm
			headers := []string{"Content-Type", typeForm}
			if c.header != "" {
				headers = append(headers, "Authorization", c.header)
			}
			w := s.post(strings.NewReader(form), headers...)
			requireError(t, w, c.status, c.refused.Code)
			require.Equal(t, c.challenge, w.Header().Get("WWW-Authenticate"))
			require.Equal(t, c.recorded, s.failures)
		})
	}
}

// TestTokenRefusedUnread verifies that a malformed request never reaches the server.
func TestTokenRefusedUnread(t *testing.T) {
	for _, c := range []struct {
		name    string
		body    string
		headers []string
		status  int
		code    oauth.Code
		cause   string
	}{
		{
			"two Authorization headers", goodForm,
			[]string{"Content-Type", typeForm, "Authorization", basic("app:s"), "Authorization", basic("app:s")},
			http.StatusBadRequest, oauth.InvalidRequest, fmt.Sprint(" ", ledger.RequestMalformed),
		},
		{
			"two Content-Type headers", goodForm,
			[]string{"Content-Type", typeForm, "Content-Type", typeForm},
			http.StatusBadRequest, oauth.InvalidRequest, fmt.Sprint(" ", ledger.RequestMalformed),
		},
		{
			"another grant type", "grant_type=password&client_id=app",
			[]string{"Content-Type", typeForm},
			http.StatusBadRequest, oauth.UnsupportedGrantType, fmt.Sprint("app ", ledger.GrantTypeUnsupported),
		},
		{
			"another scheme", goodForm,
			[]string{"Content-Type", typeForm, "Authorization", "Bearer x"},
			http.StatusUnauthorized, oauth.InvalidClient, fmt.Sprint(" ", ledger.AuthenticationMalformed),
		},
		{
			"no parameters", "",
			[]string{"Content-Type", typeForm},
			http.StatusBadRequest, oauth.InvalidRequest, fmt.Sprint(" ", ledger.RequestMalformed),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestServer(t, nil)
			requireError(t, s.post(strings.NewReader(c.body), c.headers...), c.status, c.code)
			require.Empty(t, s.requests)
			require.Equal(t, []string{c.cause}, s.causes)
		})
	}
}

// TestTokenBody verifies that a body is read up to 64 KiB, with or without
// Content-Length, and that a connection is closed if its body was not read.
func TestTokenBody(t *testing.T) {
	fill := goodForm + "&x=" + strings.Repeat("a", oauth.MaxBody)
	for name, c := range map[string]struct {
		body        io.Reader
		status      int
		description string
	}{
		"the longest":                        {strings.NewReader(fill[:oauth.MaxBody]), http.StatusOK, ""},
		"longer":                             {strings.NewReader(fill[:oauth.MaxBody+1]), http.StatusRequestEntityTooLarge, "longer than 64 KiB"},
		"longer, of a length not named":      {io.MultiReader(strings.NewReader(fill)), http.StatusRequestEntityTooLarge, "longer than 64 KiB"},
		"the connection broke while it came": {iotest.ErrReader(errors.New("reset")), http.StatusBadRequest, "can not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, nil)
			w := s.post(c.body, "Content-Type", typeForm)
			require.Equal(t, c.status, w.Code)
			if c.status != http.StatusOK {
				require.Contains(t, w.Body.String(), c.description)
				require.Equal(t, "close", w.Header().Get("Connection"))
				require.Equal(t, []string{fmt.Sprint(" ", ledger.RequestMalformed)}, s.causes)
			}
		})
	}
	// A Content-Length is checked before the body is read.
	s := newTestServer(t, nil)
	r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, oauth.PathToken, unread{t}))
	r.ContentLength = oauth.MaxBody + 1
	require.Equal(t, http.StatusRequestEntityTooLarge, s.send(r).Code)
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestFailuresAreLimited verifies that failures beyond a burst, by client and address,
// get 429, while a valid request still gets its response.
func TestFailuresAreLimited(t *testing.T) {
	const burst = 500
	for name, c := range map[string]struct {
		refused oauth.Error
		limited bool
	}{
		"a wrong secret":           {oauth.Error{Code: oauth.InvalidClient}, true},
		"another's token":          {oauth.Error{Code: oauth.InvalidGrant}, true},
		"a token that was its own": {oauth.Error{Code: oauth.InvalidGrant, Genuine: true}, false},
		"a scope that it lacks":    {oauth.Error{Code: oauth.InvalidScope}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, nil)
			c.refused.ID = "id"
			s.err = &c.refused
			for range burst {
				require.Less(t, s.refresh("app", secretMMS).Code, http.StatusTooManyRequests)
			}
			s.failures = nil
			w := s.refresh("app", secretMMS)
			if !c.limited {
				require.Equal(t, http.StatusBadRequest, w.Code)
				return
			}
			requireError(t, w, http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
			require.Contains(t, w.Body.String(), `"error_id":"id"`)
			require.Equal(t, "1", w.Header().Get("Retry-After"))
			require.Equal(t, []string{fmt.Sprint("client_authentication ", ledger.Throttled)}, s.failures)

			require.NotEqual(t, http.StatusTooManyRequests, s.refresh("other", secretMMS).Code)
			s.now = s.now.Add(time.Second)
			require.NotEqual(t, http.StatusTooManyRequests, s.refresh("app", secretMMS).Code)
			for range 2 * burst {
				s.refresh("app", secretMMS)
			}
			s.err = nil
			require.Equal(t, http.StatusOK, s.refresh("app", secretMMS).Code)
		})
	}
}

// TestLongClientID verifies that ids that no client can have share one count.
func TestLongClientID(t *testing.T) {
	s := newTestServer(t, nil)
	s.err = &oauth.Error{Code: oauth.InvalidClient}
	for n := range 500 {
		s.refresh(fmt.Sprint(n, strings.Repeat("a", ledger.MaxID)), secretMMS)
	}
	require.Equal(t, http.StatusTooManyRequests, s.refresh(strings.Repeat("b", ledger.MaxID+1), secretMMS).Code)
	require.Equal(t, http.StatusUnauthorized, s.refresh(strings.Repeat("b", ledger.MaxID), secretMMS).Code)
}

// TestGuessesAreLimited verifies that the number of wrong secrets of one client is
// limited over all addresses, unless they have the form of a generated secret.
func TestGuessesAreLimited(t *testing.T) {
	const burst = 100
	wrong := &oauth.Error{Code: oauth.InvalidClient, Cause: uint16(ledger.SecretWrong)}
	s := newTestServer(t, nil)
	s.err = wrong
	for range burst {
		requireError(t, s.refresh("app", "guess"), http.StatusUnauthorized, oauth.InvalidClient)
	}
	asked := len(s.requests)
	s.failures, s.causes = nil, nil
	w := s.refresh("app", "guess")
	requireError(t, w, http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.Len(t, s.requests, asked, "the secret was verified beyond the limit")
	require.Equal(t, []string{fmt.Sprint("client_authentication ", ledger.Throttled)}, s.failures)
	require.Equal(t, []string{fmt.Sprint("app ", ledger.Throttled)}, s.causes)

	require.Equal(t, http.StatusUnauthorized, s.refresh("app", secretMMS).Code, "the form of a generated secret is not limited")
	require.Equal(t, http.StatusUnauthorized, s.refresh("app", "").Code, "a missing secret is no guess")
	require.Equal(t, http.StatusUnauthorized, s.refresh("other", "guess").Code, "another client has its own count")
}

// TestGuessesThatAreNone verifies which responses remove a secret from the count.
func TestGuessesThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		known  string // the secret that this node's state has
		counts bool
	}{
		"accepted":                                       {nil, "", false},
		"its own token that ended":                       {&oauth.Error{Code: oauth.InvalidGrant, Genuine: true}, "", false},
		"no decision about a correct secret":             {oauth.ErrUnavailable, "secret", false},
		"no decision about a wrong secret":               {oauth.ErrUnavailable, "another", true},
		"no decision about a correct secret with a hash": {fmt.Errorf("%w: %w", oauth.ErrSecretCorrect, oauth.ErrUnavailable), "", false},
		"hung up with a correct secret":                  {context.Canceled, "secret", false},
		"hung up with a wrong secret":                    {context.Canceled, "another", true},
		"the server failed":                              {errors.New("disk on fire"), "another", true},
		"a token that may be a guess":                    {&oauth.Error{Code: oauth.InvalidGrant}, "secret", true},
		"a wrong secret":                                 {&oauth.Error{Code: oauth.InvalidClient}, "secret", true}, // revoked since, as the leader knows
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, nil)
			wrong := &oauth.Error{Code: oauth.InvalidClient}
			s.err = wrong
			for range 99 {
				s.refresh("app", "guess")
			}
			s.err, s.secret = c.err, c.known
			s.send(s.from("203.0.113.9"), "Content-Type", typeForm)
			s.err = wrong
			want := http.StatusUnauthorized
			if c.counts {
				want = http.StatusTooManyRequests
			}
			require.Equal(t, want, s.refresh("app", "guess").Code)
		})
	}
}

// TestOutageLocksNobodyOut verifies that clients with a correct secret may try again and again
// while nothing can be decided, and that others may not guess meanwhile.
func TestOutageLocksNobodyOut(t *testing.T) {
	s := newTestServer(t, nil)
	s.err, s.secret = oauth.ErrUnavailable, "secret"
	for range 1000 {
		require.Equal(t, http.StatusServiceUnavailable, s.refresh("app", "secret").Code)
	}
	for range 100 {
		require.Equal(t, http.StatusServiceUnavailable, s.refresh("app", "guess").Code)
	}
	require.Equal(t, http.StatusTooManyRequests, s.refresh("app", "guess").Code)
}

// TestHangingUpHidesNoGuess verifies over HTTP/1.1, where the client closes the connection, and
// over HTTP/2, where it resets the stream, that a request without a response is counted.
func TestHangingUpHidesNoGuess(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		for _, path := range []string{oauth.PathToken, oauth.PathRevoke, oauth.PathIntrospect} {
			t.Run(fmt.Sprintf("http2=%v %s", http2, path), func(t *testing.T) {
				s := newTestServer(t, nil)
				s.err = fmt.Errorf("%w: %w", oauth.ErrUnavailable, context.Canceled)
				asked, ended := make(chan bool), make(chan bool)
				s.decide = func(ctx context.Context) {
					asked <- true
					<-ctx.Done()
				}
				srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					s.routes.ServeHTTP(w, r)
					ended <- true
				}))
				srv.EnableHTTP2 = http2
				srv.StartTLS()
				defer srv.Close()
				send := func(ctx context.Context) (*http.Response, error) {
					r := must(http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+path, strings.NewReader(encodeForm("app", "guess")+"&token=t")))
					r.Header.Set("Content-Type", typeForm)
					return srv.Client().Do(r)
				}
				for range 100 {
					ctx, hangUp := context.WithCancel(t.Context())
					go func() {
						<-asked
						hangUp()
					}()
					res, err := send(ctx)
					if err == nil {
						res.Body.Close()
					}
					require.ErrorIs(t, err, context.Canceled)
					<-ended
				}
				go func() { <-ended }()
				res, err := send(t.Context())
				require.NoError(t, err)
				defer res.Body.Close()
				require.Equal(t, http.StatusTooManyRequests, res.StatusCode)
				require.Equal(t, http2, res.ProtoMajor == 2)
			})
		}
	}
}

// TestGuessesWhereTheClientWas verifies that an address from which the client has
// authenticated has its own count, so that attackers elsewhere can't lock the client out.
func TestGuessesWhereTheClientWas(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		open bool
	}{
		"accepted":                    {nil, true},
		"its own token that ended":    {&oauth.Error{Code: oauth.InvalidGrant, Genuine: true}, true},
		"a token that may be a guess": {&oauth.Error{Code: oauth.InvalidGrant}, true},
		"the server failed":           {errors.New("disk on fire"), false},
		"a wrong secret":              {&oauth.Error{Code: oauth.InvalidClient}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, nil)
			s.err = c.err
			s.send(s.from("203.0.113.9"), "Content-Type", typeForm)
			s.err = &oauth.Error{Code: oauth.InvalidClient}
			for range 100 {
				s.refresh("app", "guess")
			}
			asked := len(s.requests)
			s.err = nil
			s.send(s.from("203.0.113.9"), "Content-Type", typeForm)
			require.Equal(t, c.open, len(s.requests) > asked)
		})
	}
}

// from returns a request with a secret from another address.
func (s *testServer) from(address string) *http.Request {
	r := must(http.NewRequestWithContext(s.t.Context(), http.MethodPost, oauth.PathToken, strings.NewReader(goodForm+"&client_secret=secret")))
	r.RemoteAddr = address
	return r
}

// TestRecordedFailure verifies that only the id of an existing client is recorded, since
// another may be a secret in the wrong place.
func TestRecordedFailure(t *testing.T) {
	s := newTestServer(t, nil, &ledger.Client{ID: "known", Owner: "u"})
	s.err = &oauth.Error{Code: oauth.InvalidClient}
	form := strings.NewReader(encodeForm("known", "guess"))
	record := &requestlog.Record{ID: "request-1"}
	s.send(httptest.NewRequestWithContext(requestlog.With(t.Context(), record), http.MethodPost, oauth.PathToken, form), "Content-Type", typeForm)
	require.Contains(t, record.Attrs(), slog.String("client", "known"))
	require.Contains(t, s.log.String(), "security.client=known security.request_id=request-1")
	s.log.Reset()
	s.refresh("mms_a-secret", "guess")
	require.Contains(t, s.log.String(), "client authentication failed")
	require.NotContains(t, s.log.String(), "security.client=")
}
