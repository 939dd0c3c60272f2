package endpoint

import (
	"encoding/hex"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"
)

// NewRouter returns a router without conveniences for unregistered paths: a redirect to a
// cleaned path can leave the site, and a redirected POST is sent twice.
func NewRouter() *httprouter.Router {
	r := httprouter.New()
	r.RedirectTrailingSlash = false
	r.RedirectFixedPath = false
	r.HandleOPTIONS = false
	r.HandleMethodNotAllowed = true
	r.PanicHandler = nil // it would recover http.ErrAbortHandler
	return r
}

// FixAllowHeader removes OPTIONS from the header Allow of a 405 response, except for paths that
// support it: the router names it for every path (RFC 9110 §10.2.1).
func FixAllowHeader(r *httprouter.Router, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if own, _, _ := r.Lookup(http.MethodOptions, req.URL.Path); own == nil {
			allowed := slices.DeleteFunc(strings.Split(w.Header().Get("Allow"), ", "), func(method string) bool {
				return method == http.MethodOptions
			})
			w.Header().Set("Allow", strings.Join(allowed, ", "))
		}
		next.ServeHTTP(w, req)
	})
}

// Guard wraps every public handler. It sets the common response headers, passes requests for
// ambiguous paths to notFound, and turns a panic into a 500 without its reason. By default a
// response can't be framed and can't load or run anything; its handler may change that. secure
// reports that the server is reached by https and must be reached by nothing else from then on
// (RFC 6797 §6.1).
func Guard(next, notFound http.Handler, secure bool, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["X-Content-Type-Options"] = noSniff
		h["X-Frame-Options"] = noFrame
		h["Content-Security-Policy"] = noContent
		if secure {
			h["Strict-Transport-Security"] = oneYear
		}
		defer func() {
			switch err := recover(); err {
			case nil:
			case http.ErrAbortHandler:
				panic(err)
			default:
				log.ErrorContext(r.Context(), "handler panicked", "method", r.Method, "path", r.URL.Path, "error", err, "stack", string(debug.Stack()))
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
			// A proxy in front may have used Content-Length to find the end of this
			// request (RFC 9112 §6.1), so no other request on the connection can be
			// trusted. For HTTP/1.0, net/http removes Transfer-Encoding silently.
			h["Connection"] = closing
		}
		if ambiguous(r) {
			notFound.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ambiguous reports whether a path is spelled in a way that a proxy in front might interpret
// differently.
func ambiguous(r *http.Request) bool {
	path := r.URL.EscapedPath()
	if strings.Contains(path, "//") || strings.Contains(path, "/./") || strings.Contains(path, "/../") {
		return true
	}
	for rest := path; ; {
		_, code, more := strings.Cut(rest, "%")
		if !more {
			return false
		}
		c, err := hex.DecodeString(code[:min(2, len(code))])
		if err != nil || len(c) == 0 || c[0] == '/' || c[0] == '\\' || c[0] == 0 || unreserved(c[0]) {
			return true
		}
		rest = code[2:]
	}
}

// unreserved reports whether c is never percent-encoded in a normalized URL (RFC 3986 §2.3). A
// reverse proxy that restricts a path by comparing text would miss the same path with an encoded
// letter.
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
