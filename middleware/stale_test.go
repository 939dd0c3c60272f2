package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// When the keys are too old, every token gets a 503 with Retry-After: situation 11 of
// package verifier, over HTTP.
func TestStaleKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		v, err := verifier.New(issuer.Config())
		require.NoError(t, err)
		defer v.Close()
		cached := issuer.Token(verifiertest.ExpiresIn(48 * time.Hour))
		guarded := middleware.New(v, middleware.Config{}).Optional()(http.NotFoundHandler())
		ask := func(token string) *http.Response {
			r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
			r.Header.Set("Authorization", "Bearer "+token)
			guarded.ServeHTTP(w, r)
			return w.Result()
		}
		require.Equal(t, http.StatusNotFound, ask(cached).StatusCode)
		synctest.Wait()
		issuer.Down()
		time.Sleep(24*time.Hour - time.Nanosecond)
		assert.Equal(t, http.StatusNotFound, ask(cached).StatusCode)
		time.Sleep(time.Nanosecond)
		for _, token := range []string{cached, issuer.Token(), issuer.Token(verifiertest.Header("kid", "other"))} {
			res := ask(token)
			assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
			assert.NotEmpty(t, res.Header.Get("Retry-After"))
		}
	})
}
