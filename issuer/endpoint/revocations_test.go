package endpoint_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// polled is a feed that responds with its arguments.
type polled struct{ err error }

func (p polled) Poll(_ context.Context, reader, after string, wait time.Duration) ([]byte, error) {
	return fmt.Appendf(nil, "%s %s %s", reader, after, wait), p.err
}

// newFeedServer has one reader, calendar, with the secret "s".
func newFeedServer(t *testing.T, feed polled) *testServer {
	return newTestServer(t, func(s *testServer) { s.config.Revocations = feed })
}

func (s *testServer) feed(query string, headers ...string) *httptest.ResponseRecorder {
	return s.do(http.MethodGet, oauth.PathRevocations+query, headers...)
}

func TestRevocations(t *testing.T) {
	s := newFeedServer(t, polled{})
	calendar := []string{"Authorization", basic("calendar:s")}
	for query, want := range map[string]string{
		"":                   "https://calendar.example  0s",
		"?wait=":             "https://calendar.example  0s",
		"?wait=0":            "https://calendar.example  0s",
		"?after=1-2&wait=60": "https://calendar.example 1-2 1m0s",
	} {
		w := s.feed(query, calendar...)
		require.Equal(t, http.StatusOK, w.Code, query)
		require.Equal(t, want, w.Body.String())
		require.Equal(t, http.Header{
			"Cache-Control": {"no-store"}, "Content-Length": {fmt.Sprint(len(want))},
			"Content-Type": {"application/mintmark-revocations+jwt"},
		}, w.Header())
	}
	for _, wait := range []string{"-1", "61", "x", "1.5"} {
		w := s.feed("?wait="+wait, calendar...)
		requireError(t, w, http.StatusBadRequest, oauth.InvalidRequest)
		require.Contains(t, w.Body.String(), `"error_id":"`)
	}
	require.Empty(t, s.failures)

	s = newFeedServer(t, polled{err: fmt.Errorf("%w: no leader", oauth.ErrUnavailable)})
	requireError(t, s.feed("", calendar...), http.StatusServiceUnavailable, oauth.TemporarilyUnavailable)
	s = newFeedServer(t, polled{err: errors.New("disk on fire")})
	requireError(t, s.feed("", calendar...), http.StatusInternalServerError, oauth.ServerError)
	s = newFeedServer(t, polled{})
	s.err = oauth.ErrUnavailable
	requireError(t, s.feed("", calendar...), http.StatusServiceUnavailable, oauth.TemporarilyUnavailable)
}

// TestRevocationsRefused verifies that wrong secrets are counted, and that a request without
// credentials is not.
func TestRevocationsRefused(t *testing.T) {
	s := newFeedServer(t, polled{})
	wrong := []string{fmt.Sprint("reader_authentication ", ledger.SecretWrong)}
	malformed := []string{fmt.Sprint("reader_authentication ", ledger.AuthenticationMalformed)}
	for name, c := range map[string]struct {
		headers  []string
		recorded []string
	}{
		"nothing":        {nil, nil},
		"another scheme": {[]string{"Authorization", "Bearer x"}, nil},
		"another reader": {[]string{"Authorization", basic("booking:s")}, wrong},
		"a wrong secret": {[]string{"Authorization", basic("calendar:t")}, wrong},
		"two headers":    {[]string{"Authorization", basic("calendar:s"), "Authorization", basic("calendar:s")}, malformed},
	} {
		s.failures = nil
		w := s.feed("", c.headers...)
		requireError(t, w, http.StatusUnauthorized, oauth.InvalidClient)
		require.Equal(t, `Basic realm="revocations", charset="UTF-8"`, w.Header().Get("WWW-Authenticate"), name)
		require.Equal(t, c.recorded, s.failures, name)
	}
}

func TestRevocationsFailuresAreLimited(t *testing.T) {
	s := newFeedServer(t, polled{})
	for range 1000 {
		require.Equal(t, http.StatusUnauthorized, s.feed("").Code, "a request without credentials is not counted")
	}
	wrong := basic("calendar:mms_" + strings.Repeat("A", 43))
	for range 500 {
		require.Equal(t, http.StatusUnauthorized, s.feed("", "Authorization", wrong).Code)
	}
	s.failures = nil
	w := s.feed("", "Authorization", wrong)
	requireError(t, w, http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.Equal(t, []string{fmt.Sprint("reader_authentication ", ledger.Throttled)}, s.failures)
	require.Equal(t, http.StatusOK, s.feed("", "Authorization", basic("calendar:s")).Code)
}

// TestRevocationsGuessesAreLimited verifies that wrong secrets that may be weak, as
// secrets from a file may be, are limited over all addresses as at the token endpoint.
// The response has an error_id.
func TestRevocationsGuessesAreLimited(t *testing.T) {
	s := newFeedServer(t, polled{})
	errorID := func(w *httptest.ResponseRecorder) (id string) {
		var body map[string]any
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
		id, _ = body["error_id"].(string)
		return id
	}
	for range 100 {
		require.Equal(t, http.StatusUnauthorized, s.feed("", "Authorization", basic("calendar:t")).Code)
	}
	s.failures = nil
	w := s.feed("", "Authorization", basic("calendar:s"))
	requireError(t, w, http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
	require.NotEmpty(t, errorID(w))
	require.Equal(t, []string{fmt.Sprint("reader_authentication ", ledger.Throttled)}, s.failures)
	generated := s.feed("", "Authorization", basic("calendar:mms_"+strings.Repeat("A", 43)))
	require.Equal(t, http.StatusUnauthorized, generated.Code, "a secret in the generated format is always decided")
	require.Equal(t, http.StatusUnauthorized, s.feed("", "Authorization", basic("other:t")).Code)
}
