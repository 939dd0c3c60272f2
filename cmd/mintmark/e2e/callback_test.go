package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// An application is the page at the redirection URI, which records what it receives.
type application struct {
	uri      string
	received chan url.Values
}

func startApplication(t testing.TB) *application {
	a := &application{received: make(chan url.Values, 16)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, r *http.Request) {
		a.received <- r.URL.Query()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!DOCTYPE html><html lang="en"><head><title>Application</title><link rel="icon" href="data:,"></head><body><h1 id="thanks">Thank you</h1><script>document.title = "Scripts ran"</script></body></html>`)
	})
	// A page that violates its own content policy.
	mux.HandleFunc("GET /breach", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		_, _ = io.WriteString(w, `<!DOCTYPE html><html lang="en"><head><title>Breach</title></head><body style="color: red">Breach</body></html>`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	a.uri = s.URL + "/callback"
	return a
}

// answer returns the response that the application received: exactly one, in the query.
func (a *application) answer(t testing.TB) url.Values {
	t.Helper()
	select {
	case q := <-a.received:
		for name, values := range q {
			require.Len(t, values, 1, name)
		}
		return q
	default:
		require.Fail(t, "no redirect to the application")
		return nil
	}
}
