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

// NewRouter is a router with every convenience off that answers for a path
// nobody registered: redirects to a cleaned path can leave the site, and a
// POST that is redirected is sent twice.
func NewRouter() *httprouter.Router {
	r := httprouter.New()
	r.RedirectTrailingSlash = false
	r.RedirectFixedPath = false
	r.HandleOPTIONS = false
	r.HandleMethodNotAllowed = true
	r.PanicHandler = nil // it would swallow http.ErrAbortHandler
	return r
}

// FixAllowHeader takes OPTIONS out of the header Allow of a 405, where the router has
// set it, but for the paths that have the method: it names it for every path,
// whether it answers it or not (RFC 9110 §10.2.1).
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

// Guard is around everything that is public. It sets the headers that every
// answer has, has notFound answer paths that could mean two things, and turns a
// panic into a 500 without a word about why. Nothing that is answered can be
// framed or can load or run anything, unless its handler says otherwise. Secure
// says that the server is reached by https, and is to be reached by nothing else
// from then on (RFC 6797 §6.1).
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
				log.Error("panic", "method", r.Method, "path", r.URL.Path, "error", err, "stack", string(debug.Stack()))
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
			// With a length beside it a program in front may have read another
			// end of this request (RFC 9112 §6.1): nothing follows on it. Of
			// HTTP/1.0 net/http drops the field without a trace.
			h["Connection"] = closing
		}
		if ambiguous(r) {
			notFound.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ambiguous reports whether a path has a spelling that another program in
// front of this one might read differently.
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

// unreserved reports whether c is never percent-encoded in a normalized URL (RFC 3986
// §2.3). A reverse proxy that restricts a path by its text would miss the same path
// with an encoded letter in it.
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
