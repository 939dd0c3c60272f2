package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
)

// maxForm is the largest body of a form, in bytes.
const maxForm = 64 << 10

// A form is what a page of ours posts. Each page uses some of the fields.
type form struct {
	token    string
	next     string // the query of the authorization request that waits
	user     string // the id of the user whom the page named
	decision string // "allow" or "cancel"
	client   string
	username string
	password string
}

type formHandler func(*call, form) error

// form is around the handler of every form: it reads the body, refuses what no
// page of ours sent with the error given, and what came from another origin.
func (w *Web) form(h formHandler, without error) handler {
	return func(c *call) error {
		f, err := readForm(c)
		switch {
		case err != nil:
			return err
		case f.token == "":
			return without
		case w.origin.Check(c.r) != nil:
			return errNotOurForm
		}
		return h(c, f)
	}
}

// readForm reads each field once. A body of another type is an empty form.
func readForm(c *call) (form, error) {
	var f form
	kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return f, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.ResponseWriter, c.r.Body, maxForm))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return f, errTooLarge
	}
	if err != nil {
		return f, errUnreadable
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return f, errUnreadable
	}
	for name, field := range map[string]*string{
		"token": &f.token, "next": &f.next, "user": &f.user, "decision": &f.decision,
		"client": &f.client, "username": &f.username, "password": &f.password,
	} {
		switch got := values[name]; len(got) {
		case 0:
		case 1:
			*field = got[0]
		default:
			return f, errUnreadable
		}
	}
	return f, nil
}
