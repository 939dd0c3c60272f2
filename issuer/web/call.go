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

// A call is one request and what its log record will say. One goroutine owns
// it.
type call struct {
	http.ResponseWriter
	r *http.Request

	status int // 0 until the header is written

	// For the log. Client and user are set only once they are known to exist:
	// nothing that a stranger wrote is logged.
	client, user string
	cause        ledger.Cause
	err          error
}

// WriteHeader keeps the status for the log.
func (c *call) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// head reports whether nothing may change and nothing may be made.
func (c *call) head() bool { return c.r.Method == http.MethodHead }

// redirect sends the browser elsewhere with 303 See Other, after which it
// sends a GET without the form that it has just posted (RFC 9700 §4.12).
// http.Redirect would repeat the address in a body.
func (c *call) redirect(location string) error {
	c.Header().Set("Location", location)
	c.WriteHeader(http.StatusSeeOther)
	return nil
}

// A handler answers a call, or returns why it can't: fail makes the page.
type handler func(*call) error

func (w *Web) handle(route string, h handler) httprouter.Handle {
	return func(rw http.ResponseWriter, r *http.Request, _ httprouter.Params) { w.serve(rw, r, route, h) }
}

// serve is around every handler: headers, the page for an error or a panic,
// and the log record.
func (w *Web) serve(rw http.ResponseWriter, r *http.Request, route string, h handler) {
	c := &call{ResponseWriter: rw, r: r}
	started := time.Now()
	w.setHeaders(c.Header())
	defer func() {
		p := recover()
		if p == http.ErrAbortHandler {
			panic(p)
		}
		if p != nil {
			w.config.Log.ErrorContext(r.Context(), "page panicked", "route", route, "panic", p, "stack", string(debug.Stack()))
			if c.status == 0 {
				w.fail(c, errInternal)
			}
		}
		w.record(c, route, time.Since(started))
	}()
	if err := h(c); err != nil {
		w.fail(c, err)
	}
}

// record writes the one log record of a request. It never holds a query, a
// form or a cookie.
func (w *Web) record(c *call, route string, took time.Duration) {
	level := slog.LevelInfo
	if c.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.String("method", c.r.Method), slog.String("route", route),
		slog.Int("status", c.status), slog.Duration("took", took),
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
