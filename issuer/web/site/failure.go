package site

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

// A Failure is an error with texts for the user.
type Failure struct {
	Status int
	Title  string
	Text   string
	Detail string // for the developer of the application; never a value of the request
	SignIn string // follows detail if nobody is signed in
	allow  string // the header Allow of a 405
	After  time.Duration
	Cause  ledger.Cause
	Owner  any    // for the owner of the client only: see the template "error"
	Back   string // the page that the failure links to; "" for the home page
}

func (f *Failure) Error() string { return f.Title }

var (
	ErrNotFound = &Failure{
		Status: http.StatusNotFound, Title: "Page not found",
		Text: "There is no page at this address. Check the address, or start from the home page.",
	}
	errInternal = &Failure{
		Status: http.StatusInternalServerError, Title: "Something went wrong",
		Text: "That is our fault, not yours. Please try again in a moment.",
	}
	errUnavailable = &Failure{
		Status: http.StatusServiceUnavailable, Title: "Not available right now",
		Text:  "The service can’t answer at the moment. Nothing was changed that you need to undo: please try again in a few seconds.",
		After: retryUnavailable,
	}
	ErrNotOurForm = &Failure{
		Status: http.StatusForbidden, Title: "This form can’t be used",
		Text: "It was not sent by a page of this service, or the page is too old. Please go back, reload the page and try again.",
	}
	errTooLarge = &Failure{
		Status: http.StatusRequestEntityTooLarge, Title: "Too much was sent",
		Text: "The form holds more than this service accepts.",
	}
	ErrUnreadable = &Failure{
		Status: http.StatusBadRequest, Title: "The form could not be read",
		Text: "Please go back, reload the page and try again.",
	}
)

// retryUnavailable is longer than an election usually takes.
const retryUnavailable = 5 * time.Second

// MethodNotAllowed returns the failure for a request with another method than those in allow.
// allow is "" if the header is set already.
func MethodNotAllowed(allow string) *Failure {
	return &Failure{
		Status: http.StatusMethodNotAllowed, Title: "This address can’t be used like that", allow: allow,
		Text: "The request has a method that this page does not know. Please go back, or start again from the application you came from.",
	}
}

// fail is the only function that turns an error into a page.
func (w *Site) fail(c *Request, err error) {
	if first, ok := errors.AsType[*signInFirst](err); ok {
		_ = c.Redirect(first.location())
		return
	}
	f, known := errors.AsType[*Failure](err)
	switch {
	case known:
	case errors.Is(err, oauth.ErrUnavailable), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		f, c.Err = errUnavailable, err
	default:
		f, c.Err = errInternal, err
	}
	if f.Cause != ledger.NoCause {
		c.Cause = f.Cause
	}
	if f.allow != "" {
		c.Header().Set("Allow", f.allow)
	}
	if f.After > 0 {
		RetryAfter(c, f.After)
	}
	body := errorBody{Title: f.Title, Text: f.Text, Detail: f.Detail, Owner: f.Owner, Back: f.Back, Request: requestlog.ID(c.R.Context())}
	if c.Cause != ledger.NoCause {
		body.ErrorID = w.ErrorID(cmp.Or(c.clientID, c.Client), ledger.Refusal{Cause: c.Cause})
	}
	w.own.Render(c, f.Status, "error", ui.Page{Title: f.Title, Body: body})
}

type errorBody struct {
	Title, Text, Detail, Back string
	Owner                     any
	Request                   string // id of the request in the log; "" if it has none
	ErrorID                   string // of the cause, for an operator or the client's owner; "" without a cause
}

// RetryAfter sets Retry-After to Seconds.
func RetryAfter(c *Request, d time.Duration) {
	c.Header().Set("Retry-After", strconv.Itoa(Seconds(d)))
}

// WaitText returns a time to wait in words, rounded up to a second, a minute or an hour.
func WaitText(d time.Duration) string {
	unit := time.Second
	switch {
	case d > 2*time.Hour:
		unit = time.Hour
	case d > 2*time.Minute:
		unit = time.Minute
	}
	return ui.Duration(max(unit, (d+unit-1)/unit*unit))
}

// Seconds rounds a time to wait up: a browser that returns too early would be refused again.
func Seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }
