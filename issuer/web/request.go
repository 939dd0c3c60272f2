package web

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

// A request is one HTTP request and the data for its log record. It is used by one goroutine.
type request struct {
	http.ResponseWriter
	r      *http.Request
	route  string            // the pattern of the route; "" if there is none
	params httprouter.Params // of the path

	returnTo string // the page to continue with after a sign-in
	posted   bool   // a form was sent, which is not repeated after a sign-in

	sessionID string // the session id if the page is for a user; "" if it is for anybody

	status int // 0 before the header is written

	// For the log. Client and user are set only once they are known to exist, since no
	// text of an unauthenticated sender is logged.
	client, user string
	clientID     string // of client, for error_ids; "" if only the id was recorded
	cause        ledger.Cause
	err          error
}

// WriteHeader records the status for the log.
func (c *request) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// param returns a parameter of the path.
func (c *request) param(name string) string { return c.params.ByName(name) }

// concerns records the client of the request, unless it is nil.
func (c *request) concerns(client *ledger.Client) {
	if client != nil {
		c.client, c.clientID = client.ID, client.ClientID()
	}
}

// isHead reports whether the request is HEAD, which must not change or create anything.
func (c *request) isHead() bool { return c.r.Method == http.MethodHead }

// redirect redirects with 303 See Other, after which the browser sends a GET without the
// form that it has just sent (RFC 9700 §4.12). http.Redirect would repeat the address in
// a body.
func (c *request) redirect(location string) error {
	c.Header().Set("Location", location)
	c.WriteHeader(http.StatusSeeOther)
	return nil
}

// A handler handles a request, or returns an error, for which fail renders the page.
type handler func(*request) error

func (w *Web) handle(route string, h handler) httprouter.Handle {
	return func(rw http.ResponseWriter, r *http.Request, params httprouter.Params) {
		w.serve(&request{ResponseWriter: rw, r: r, route: route, params: params}, h)
	}
}

// serve wraps every handler: it sets headers, renders the page for an error or a panic,
// and writes the log record.
func (w *Web) serve(c *request, h handler) {
	started := time.Now()
	w.setHeaders(c.Header(), c.route)
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

// record adds to the record of the request, or writes one if there is none or the page
// failed. It never contains a query, a form or a cookie.
func (w *Web) record(c *request, took time.Duration) {
	level := slog.LevelInfo
	if c.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	var attrs []slog.Attr
	if c.client != "" {
		attrs = append(attrs, slog.String("client", c.client))
	}
	if c.user != "" {
		attrs = append(attrs, slog.String("user", c.user))
	}
	if c.cause != ledger.NoCause {
		attrs = append(attrs, slog.String("cause", c.cause.String()))
	}
	if requestlog.Add(c.r.Context(), attrs...) && c.err == nil {
		return
	}
	attrs = append(attrs,
		slog.String("method", c.r.Method), slog.String("route", c.route),
		slog.Int("status", c.status), slog.Float64("took_ms", float64(took.Microseconds())/1000))
	if c.err != nil {
		attrs = append(attrs, slog.Any("error", c.err))
	}
	w.config.Log.LogAttrs(context.WithoutCancel(c.r.Context()), level, "page", attrs...)
}
