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
	// SignInPath is a sign-in after which the owner of the client learns more; "" for none.
	SignInPath string
	allow      string // the header Allow of a 405
	After      time.Duration
	Cause      ledger.Cause
	Owner      any    // for the owner of the client only: see the template "error"
	Back       string // the page that the failure links to; "" for the home page

	BackText string // the words of that link; "" for the default
	// Again is the button that leads back to Request.ReturnTo, for a failure after which that page
	// may work; "" for no button.
	Again string
}

// The words of Failure.Again.
const (
	OpenAgain = "Open the page again"
	TryAgain  = "Try again"
)

func (f *Failure) Error() string { return f.Title }

var (
	ErrNotFound = &Failure{
		Status: http.StatusNotFound, Title: "Page not found",
		Text: "There is no page at this address. Check the address, or start from the home page.",
	}
	errInternal = &Failure{
		Status: http.StatusInternalServerError, Title: "Something went wrong",
		Text: "That is our fault, not yours. Try again in a moment.", Again: TryAgain,
	}
	ErrNotOurForm = &Failure{
		Status: http.StatusForbidden, Title: "This page has expired",
		Text: "It was open too long, or was opened before you signed in again. Nothing was changed. Open it again and repeat what you did.", Again: OpenAgain,
	}
	errTooLarge = &Failure{
		Status: http.StatusRequestEntityTooLarge, Title: "Too much was sent",
		Text: "The form holds more than can be stored, so nothing was changed. Go back and shorten it.",
	}
	ErrUnreadable = &Failure{
		Status: http.StatusBadRequest, Title: "The form could not be read",
		Text: "Nothing was changed. Open the page again and repeat what you did.", Again: OpenAgain,
	}
)

// retryUnavailable is longer than an election usually takes.
const retryUnavailable = 5 * time.Second

// MethodNotAllowed returns the failure for a request with another method than those in allow.
// allow is "" if the header is set already.
func MethodNotAllowed(allow string) *Failure {
	return &Failure{
		Status: http.StatusMethodNotAllowed, Title: "This address can’t be used like that", allow: allow,
		Text: "The request has a method that this page does not know. Go back, or start again from the app that you came from.",
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
		f, c.Err = w.unavailable(c), err
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
	body := errorBody{Title: f.Title, Text: f.Text, Detail: f.Detail, Owner: f.Owner, Back: f.Back, BackText: cmp.Or(f.BackText, "Go back and try again"), SignIn: f.SignInPath, Request: requestlog.ID(c.R.Context())}
	if f.Back == "" && f.Again != "" {
		body.Back, body.BackText = c.ReturnTo, f.Again
	}
	if c.Cause != ledger.NoCause {
		body.ErrorID = w.ErrorID(cmp.Or(c.clientID, c.Client), ledger.Refusal{Cause: c.Cause})
	}
	if v := w.viewerOf(c, f.Status); v.User != nil {
		w.own.showFailure(c, v, f.Status, body)
		return
	}
	w.own.Render(c, f.Status, "error", ui.Page{Title: f.Title, Body: body})
}

// viewerOf returns the session of a user who sees a failure beside the navigation: on a page for
// signed-in users, or at an address without a page. The navigation counts what waits, which a node
// that fails may not be able to do.
func (w *Site) viewerOf(c *Request, status int) Session {
	switch {
	case status >= http.StatusInternalServerError:
		return Session{}
	case status == http.StatusNotFound && c.viewer.User == nil:
		return w.LoadSession(c)
	}
	return c.viewer
}

// showFailure shows a failure beside the navigation.
func (w *Area) showFailure(c *Request, v Session, status int, body errorBody) {
	if body.Back == "" && status == http.StatusNotFound {
		body.Back, body.BackText = PathHome, "Home"
	}
	w.show(c, v, status, "failure", ui.Page{Title: body.Title, Body: body})
}

// unavailable is the failure for a node that can't answer now. Whether a form had an effect is then
// unknown.
func (w *Site) unavailable(c *Request) *Failure {
	f := &Failure{
		Status: http.StatusServiceUnavailable, Title: "Not available right now", After: retryUnavailable, Again: TryAgain,
		Text: w.Brand().Name + " can’t answer at the moment. " + cmp.Or(c.Undone, "Wait a few seconds and try again."),
	}
	if c.posted && c.Undone == "" {
		f.Text, f.Again = w.Brand().Name+" can’t answer at the moment. Wait a few seconds, open the page again and check whether this was saved.", OpenAgain
	}
	return f
}

type errorBody struct {
	Title, Text, Detail string
	Owner               any
	Back, BackText      string // the page to go back to; "" for none
	SignIn              string // a sign-in that leads back to the request; "" for none
	Request             string // id of the request in the log; "" if it has none
	ErrorID             string // of the cause, for an operator or the client's owner; "" without a cause
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
