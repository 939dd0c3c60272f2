package web

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A request is one request and what its log record will say. One goroutine owns
// it.
type request struct {
	http.ResponseWriter
	r      *http.Request
	route  string            // the pattern that the path has; "" for none
	params httprouter.Params // of the path

	returnTo string // the page to go on with for who must sign in first
	posted   bool   // what came is a form, which is not gone on with

	sessionID string // the session id of who the page is for; "" where it is for anybody

	status int // 0 until the header is written

	// For the log. Client and user are set only once they are known to exist:
	// nothing that a stranger wrote is logged.
	client, user string
	cause        ledger.Cause
	err          error
}

// WriteHeader keeps the status for the log.
func (c *request) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// param is a parameter of the path.
func (c *request) param(name string) string { return c.params.ByName(name) }

// isHead reports whether nothing may change and nothing may be made.
func (c *request) isHead() bool { return c.r.Method == http.MethodHead }

// redirect sends the browser elsewhere with 303 See Other, after which it
// sends a GET without the form that it has just posted (RFC 9700 §4.12).
// http.Redirect would repeat the address in a body.
func (c *request) redirect(location string) error {
	c.Header().Set("Location", location)
	c.WriteHeader(http.StatusSeeOther)
	return nil
}

// A handler answers a request, or returns why it can't: fail makes the page.
type handler func(*request) error

func (w *Web) handle(route string, h handler) httprouter.Handle {
	return func(rw http.ResponseWriter, r *http.Request, params httprouter.Params) {
		w.serve(&request{ResponseWriter: rw, r: r, route: route, params: params}, h)
	}
}

// serve is around every handler: headers, the page for an error or a panic,
// and the log record.
func (w *Web) serve(c *request, h handler) {
	started := time.Now()
	w.setHeaders(c.Header())
	defer func() {
		p := recover()
		if p == http.ErrAbortHandler {
			panic(p)
		}
		if p != nil {
			w.config.Log.ErrorContext(c.r.Context(), "page panicked", "route", c.route, "panic", p, "stack", string(debug.Stack()))
			if c.status == 0 {
				w.fail(c, errInternal)
			}
		}
		w.record(c, time.Since(started))
	}()
	if err := h(c); err != nil {
		w.fail(c, err)
	}
}

// record writes the one log record of a request. It never holds a query, a
// form or a cookie.
func (w *Web) record(c *request, took time.Duration) {
	level := slog.LevelInfo
	if c.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.String("method", c.r.Method), slog.String("route", c.route),
		slog.Int("status", c.status), slog.Float64("took_ms", float64(took.Microseconds())/1000),
	}
	if c.client != "" {
		attrs = append(attrs, slog.String("client", c.client))
	}
	if c.user != "" {
		attrs = append(attrs, slog.String("user", c.user))
	}
	if c.cause != ledger.NoCause {
		attrs = append(attrs, slog.String("cause", c.cause.String()))
	}
	if c.err != nil {
		attrs = append(attrs, slog.Any("error", c.err))
	}
	w.config.Log.LogAttrs(context.WithoutCancel(c.r.Context()), level, "page", attrs...)
}
