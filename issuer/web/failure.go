package web

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A failure is an error with texts for the user.
type failure struct {
	status int
	title  string
	text   string
	detail string // for the developer of the application; never a value of the request
	signIn string // follows detail if nobody is signed in
	allow  string // the header Allow of a 405
	after  time.Duration
	cause  ledger.Cause
	owner  *ownerHelp // for the owner of the client only
	back   string     // the page that the failure links to; "" for the home page
}

func (f *failure) Error() string { return f.title }

var (
	errNotFound = &failure{
		status: http.StatusNotFound, title: "Page not found",
		text: "There is no page at this address. Check the address, or start from the home page.",
	}
	errInternal = &failure{
		status: http.StatusInternalServerError, title: "Something went wrong",
		text: "That is our fault, not yours. Please try again in a moment.",
	}
	errUnavailable = &failure{
		status: http.StatusServiceUnavailable, title: "Not available right now",
		text:  "The service can’t answer at the moment. Nothing was changed that you need to undo: please try again in a few seconds.",
		after: retryUnavailable,
	}
	errNotOurForm = &failure{
		status: http.StatusForbidden, title: "This form can’t be used",
		text: "It was not sent by a page of this service, or the page is too old. Please go back, reload the page and try again.",
	}
	errTooLarge = &failure{
		status: http.StatusRequestEntityTooLarge, title: "Too much was sent",
		text: "The form holds more than this service accepts.",
	}
	errUnreadable = &failure{
		status: http.StatusBadRequest, title: "The form could not be read",
		text: "Please go back, reload the page and try again.",
	}
)

// retryUnavailable is longer than an election usually takes.
const retryUnavailable = 5 * time.Second

func methodNotAllowed(allow string) *failure {
	return &failure{
		status: http.StatusMethodNotAllowed, title: "This address can’t be used like that", allow: allow,
		text: "The request has a method that this page does not know. Please go back, or start again from the application you came from.",
	}
}

// fail is the only function that turns an error into a page.
func (w *Web) fail(c *request, err error) {
	if first, ok := errors.AsType[*signInFirst](err); ok {
		_ = c.redirect(first.location())
		return
	}
	f, known := errors.AsType[*failure](err)
	switch {
	case known:
	case errors.Is(err, oauth.ErrUnavailable), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		f, c.err = errUnavailable, err
	default:
		f, c.err = errInternal, err
	}
	if f.cause != ledger.NoCause {
		c.cause = f.cause
	}
	if f.allow != "" {
		c.Header().Set("Allow", f.allow)
	}
	if f.after > 0 {
		retryAfter(c, f.after)
	}
	body := errorBody{Title: f.title, Text: f.text, Detail: f.detail, Owner: f.owner, Back: f.back, Request: requestlog.ID(c.r.Context())}
	if c.cause != ledger.NoCause {
		body.ErrorID = w.config.ErrorID(cmp.Or(c.clientID, c.client), ledger.Refusal{Cause: c.cause})
	}
	w.render(c, f.status, "error", ui.Page{Title: f.title, Body: body})
}

type errorBody struct {
	Title, Text, Detail, Back string
	Owner                     *ownerHelp
	Request                   string // id of the request in the log; "" if it has none
	ErrorID                   string // of the cause, for an operator or the client's owner; "" without a cause
}

// retryAfter sets Retry-After, rounded up: a browser that returns too early would be refused
// again.
func retryAfter(c *request, d time.Duration) {
	c.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(d.Seconds())))))
}
