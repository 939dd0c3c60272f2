package site

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
)

// A Request is one HTTP request and the data for its log record. It is used by one goroutine.
type Request struct {
	http.ResponseWriter
	R      *http.Request
	route  string            // the pattern of the route; "" if there is none
	params httprouter.Params // of the path

	ReturnTo string // the page to continue with after a sign-in
	posted   bool   // a form was sent, which is not repeated after a sign-in
	Undone   string // what the page of an unavailable node says of the form that was sent; "" for the default

	viewer Session // of a page for signed-in users; nobody before Admit and on other pages

	SessionID string // the session id if the page is for a user; "" if it is for anybody

	status int // 0 before the header is written

	// For the log. Client and user are set only once they are known to exist, since no
	// text of an unauthenticated sender is logged.
	Client, User string
	clientID     string // of client, for error_ids; "" if only the id was recorded
	Cause        ledger.Cause
	Err          error
}

// WriteHeader records the status for the log.
func (c *Request) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// Param returns a parameter of the path.
func (c *Request) Param(name string) string { return c.params.ByName(name) }

// Concerns records the client of the request, unless it is nil.
func (c *Request) Concerns(client *ledger.Client) {
	if client != nil {
		c.Client, c.clientID = client.ID, client.ClientID()
	}
}

// IsHead reports whether the request is HEAD, which must not change or create anything.
func (c *Request) IsHead() bool { return c.R.Method == http.MethodHead }

// Redirect redirects with 303 See Other, after which the browser sends a GET without the
// form that it has just sent (RFC 9700 §4.12). http.Redirect would repeat the address in
// a body.
func (c *Request) Redirect(location string) error {
	c.Header().Set("Location", location)
	c.WriteHeader(http.StatusSeeOther)
	return nil
}

// A Handler handles a request, or returns an error, for which fail renders the page.
type Handler func(*Request) error

func (w *Site) handle(route string, h Handler) httprouter.Handle {
	return func(rw http.ResponseWriter, r *http.Request, params httprouter.Params) {
		w.serve(&Request{ResponseWriter: rw, R: r, route: route, params: params}, h)
	}
}

// serve wraps every handler: it sets headers, renders the page for an error or a panic,
// and writes the log record.
func (w *Site) serve(c *Request, h Handler) {
	started := time.Now()
	w.setHeaders(c.Header(), c.route)
	defer func() {
		p := recover()
		if p == http.ErrAbortHandler {
			panic(p)
		}
		if p != nil {
			w.Log.ErrorContext(c.R.Context(), "page panicked", "route", c.route, "panic", p, "stack", string(debug.Stack()))
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

// record adds to the record of the request, or writes one if there is none or the page
// failed. It never contains a query, a form or a cookie.
func (w *Site) record(c *Request, took time.Duration) {
	level := slog.LevelInfo
	if c.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	var attrs []slog.Attr
	if c.Client != "" {
		attrs = append(attrs, slog.String("client", c.Client))
	}
	if c.User != "" {
		attrs = append(attrs, slog.String("user", c.User))
	}
	if c.Cause != ledger.NoCause {
		attrs = append(attrs, slog.String("cause", c.Cause.String()))
	}
	if requestlog.Add(c.R.Context(), attrs...) && c.Err == nil {
		return
	}
	attrs = append(attrs,
		slog.String("method", c.R.Method), slog.String("route", c.route),
		slog.Int("status", c.status), slog.Float64("took_ms", float64(took.Microseconds())/1000))
	if c.Err != nil {
		attrs = append(attrs, slog.Any("error", c.Err))
	}
	w.Log.LogAttrs(context.WithoutCancel(c.R.Context()), level, "page", attrs...)
}
