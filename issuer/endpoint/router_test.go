package endpoint_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/julienschmidt/httprouter"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
)

// guarded serves a request with a handler behind Guard.
func guarded(t *testing.T, secure bool, path string, change func(*http.Request), h http.HandlerFunc) (w *httptest.ResponseRecorder, log string) {
	t.Helper()
	var lines strings.Builder
	notFound := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	g := endpoint.Guard(h, notFound, secure, slog.New(slog.NewTextHandler(&lines, nil)))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	if change != nil {
		change(r)
	}
	w = httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w, lines.String()
}

func ok(http.ResponseWriter, *http.Request) {}

func TestGuardHeaders(t *testing.T) {
	w, _ := guarded(t, false, "/", nil, ok)
	require.Equal(t, http.Header{
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
		"X-Content-Type-Options":  {"nosniff"}, "X-Frame-Options": {"DENY"},
	}, w.Header())
	w, _ = guarded(t, true, "/", nil, ok)
	require.Equal(t, "max-age=31536000", w.Header().Get("Strict-Transport-Security"), "RFC 6797 §6.1")
}

// TestGuardPanic verifies that the client learns nothing of a panic, and that a handler
// may abort.
func TestGuardPanic(t *testing.T) {
	w, log := guarded(t, false, "/x", nil, func(http.ResponseWriter, *http.Request) { panic("secret") })
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.Empty(t, w.Body.String())
	require.Contains(t, log, "path=/x error=secret stack=")
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		guarded(t, false, "/", nil, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	})
}

// TestGuardClosesConnections covers RFC 9112 §6.1.
func TestGuardClosesConnections(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   string
	}{
		"a length":            {nil, ""},
		"a transfer encoding": {func(r *http.Request) { r.TransferEncoding = []string{"chunked"} }, "close"},
		"HTTP/1.0":            {func(r *http.Request) { r.ProtoMajor, r.ProtoMinor = 1, 0 }, "close"},
		"HTTP/2":              {func(r *http.Request) { r.ProtoMajor, r.ProtoMinor = 2, 0 }, ""},
	} {
		w, _ := guarded(t, false, "/", c.change, ok)
		require.Equal(t, c.want, w.Header().Get("Connection"), name)
	}
}

// TestGuardAmbiguousPaths verifies that a path that a proxy could interpret differently gets the
// response of a path that doesn't exist.
func TestGuardAmbiguousPaths(t *testing.T) {
	for path, status := range map[string]int{
		"/":                http.StatusOK,
		"/v2/me":           http.StatusOK,
		"/a%20b":           http.StatusOK,
		"/a%C3%A4/b":       http.StatusOK,
		"/%40%5B%60%7B%3A": http.StatusOK, // neighbours of letters and digits in ASCII
		"/a.b/..c/d..":     http.StatusOK,
		"//v2/me":          http.StatusNotFound,
		"/v2//me":          http.StatusNotFound,
		"/v2/./me":         http.StatusNotFound,
		"/v2/../me":        http.StatusNotFound,
		"/v2%2Fme":         http.StatusNotFound,
		"/v2%5Cme":         http.StatusNotFound,
		"/v2%00":           http.StatusNotFound,
		"/%61":             http.StatusNotFound,
		"/%7A":             http.StatusNotFound,
		"/%41":             http.StatusNotFound,
		"/%5A":             http.StatusNotFound,
		"/%30":             http.StatusNotFound,
		"/%39":             http.StatusNotFound,
		"/%2D":             http.StatusNotFound,
		"/%2E":             http.StatusNotFound,
		"/%5F":             http.StatusNotFound,
		"/%7E":             http.StatusNotFound,
		"/%20%6D":          http.StatusNotFound,
	} {
		w, _ := guarded(t, false, path, nil, ok)
		require.Equal(t, status, w.Code, path)
	}
	for _, raw := range []string{"/%", "/%4", "/%zz"} { // url.Parse refuses each of them
		w, _ := guarded(t, false, "/", func(r *http.Request) { r.URL.Opaque, r.URL.Path, r.URL.RawPath = "", raw, raw }, ok)
		require.Equal(t, http.StatusOK, w.Code, "EscapedPath corrects %s", raw)
	}
}

// TestFixAllowHeader covers RFC 9110 §10.2.1.
func TestFixAllowHeader(t *testing.T) {
	routes := endpoint.NewRouter()
	handle := func(http.ResponseWriter, *http.Request, httprouter.Params) {}
	routes.GET("/plain", handle)
	routes.GET("/both", handle)
	routes.OPTIONS("/both", handle)
	routes.MethodNotAllowed = endpoint.FixAllowHeader(routes, http.HandlerFunc(new(endpoint.Endpoints).MethodNotAllowed))
	for path, want := range map[string]string{"/plain": "GET", "/both": "GET, OPTIONS"} {
		w := httptest.NewRecorder()
		routes.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil))
		require.Equal(t, http.StatusMethodNotAllowed, w.Code)
		require.Equal(t, want, w.Header().Get("Allow"), path)
	}
}
