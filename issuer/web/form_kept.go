package web

import (
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// This file is about forms that are sent after their session has ended. What was
// filled in comes from the form itself and goes back to whoever sent it, so nothing
// is stored. Nothing is done before the user is signed in again.

const (
	maxKeptForm = 32 << 10 // bytes of a form that is shown again

	// shownFor is how long after its page was shown a form is shown again: over a
	// long weekend.
	shownFor = 7 * 24 * time.Hour
)

const (
	alertEnded = "Your session ended. Sign in in another tab, then submit again. Nothing was done yet."
	alertStale = "You have signed in again since this page was opened. Check what you filled in, then submit again. Nothing was done yet."
)

// formNotices are for the page of any form.
var formNotices = notices{"others": "Another user had filled in the form, so nothing was done."}

// Forms hides in a form whom it was shown to. What one node sealed another must
// open.
type Forms interface {
	SealForm(plain []byte) string
	OpenForm(text string) ([]byte, error)
}

// kept reports whether more is filled in than a click, that a page may show again.
func (k *formKind) kept() bool {
	return slices.ContainsFunc(k.fields, func(d field) bool {
		return (d.kind == isText || d.kind == isList) && !d.choice && !d.private || d.kind == isBound && d.choice
	})
}

// ShownTo proves which user this form was shown to, for this very object. Unlike
// Token it does not depend on the session. It lets nobody do anything: see sentAgain.
// It is "" for a form that is not kept.
func (f *form) ShownTo() string {
	if !f.kind.kept() {
		return ""
	}
	plain := binary.BigEndian.AppendUint64(nil, uint64(f.web.config.Ledger.Now()))
	return f.web.config.Forms.SealForm(append(append(plain, f.object()...), f.user...))
}

// object is a digest of what the form is for, and of its object.
func (f *form) object() []byte {
	about, _ := f.about()
	return digestOf(string(f.kind.purpose) + "\x00" + about)
}

// shownToUser is the user of the ShownTo that was sent.
func (f *form) shownToUser() (user string, ok bool) {
	if _, clear := f.about(); !clear || !f.kind.kept() {
		return "", false
	}
	plain, err := f.web.config.Forms.OpenForm(f.shownTo)
	object := f.object()
	if err != nil || len(plain) <= 8+len(object) {
		return "", false
	}
	shown := ledger.Time(binary.BigEndian.Uint64(plain))
	user, ok = strings.CutPrefix(string(plain[8:]), string(object))
	return user, ok && f.web.config.Ledger.Now() < shown.Add(shownFor)
}

// keepUnread is keep for a form that was not read yet.
func (w *Web) keepUnread(c *call, kind *formKind, ended error) error {
	if _, ok := errors.AsType[*signInFirst](ended); !ok || !kind.kept() {
		return ended // before a byte of the body is read
	}
	f, err := w.read(c, kind)
	if err != nil {
		return ended
	}
	return w.keep(c, f, ended)
}

// keep shows a form again if the error says that its session has ended. The page
// gives it a token of the browser's own secret, which a sign-in in another tab does
// not change.
func (w *Web) keep(c *call, f *form, err error) error {
	if _, ended := errors.AsType[*signInFirst](err); !ended {
		return err
	}
	user, ok := f.shownToUser()
	if !ok || !f.strip() {
		return err
	}
	f.key, f.user = w.formKey(c), user
	f.alert, f.status = alertEnded, http.StatusForbidden
	w.render(c, f.status, "kept", page{Title: "Your session ended", Form: f, Body: keptBody{f, true}})
	return nil
}

type keptBody struct {
	Form  *form
	Ended bool // nobody is signed in
}

// sentAgain reports whether the form comes from the page that keep showed this
// browser, to the user who is signed in now. Another site can neither send it,
// which the origin tells, nor know the browser's secret.
func (w *Web) sentAgain(c *call, f *form) bool {
	about, clear := f.about()
	user, ok := f.shownToUser()
	return clear && ok && user == f.user && genuine(f.token, w.sentFormKey(c), f.kind.purpose, user, about)
}

// stale answers a form of another session. Its user may check it and send it
// again; to anybody else it is shown empty.
func (w *Web) stale(c *call, v visit, f *form) error {
	user, ok := f.shownToUser()
	switch {
	case !ok:
		return errNotOurForm
	case user != v.user.ID:
		return c.done(c.back, formNotices, "others")
	case !f.strip():
		return errNotOurForm
	}
	f.alert, f.status = alertStale, http.StatusConflict
	return w.show(c, v, "kept", page{Title: "Submit again", Form: f, Body: keptBody{Form: f}})
}

// strip leaves of a form what may be shown again, and reports false where that is
// too much.
func (f *form) strip() bool {
	size := 0
	for _, d := range f.kind.fields {
		if d.kind == isSecret || d.private {
			f.values.Del(d.name)
		}
		for _, value := range f.values[d.name] {
			size += len(value)
		}
	}
	f.files, f.problems = nil, nil
	return size <= maxKeptForm
}

// Inputs are for a page that knows nothing of the form: what was typed, and what
// has to be filled in again.
func (f *form) Inputs() (list []input) {
	for _, d := range f.kind.fields {
		switch i := f.Input(d.name, ""); {
		case d.kind == isBound || d.choice:
		case d.name == ownPassword: // who has just signed in needs none
		case d.kind == isFile:
			i.Hint = "Files are not kept. Choose it again, if you chose one."
			list = append(list, i.Optional())
		case d.kind == isSecret || d.private:
			i.Hint = "Passwords are not kept. Enter it again."
			list = append(list, i.As("off"))
		case d.kind == isList:
			f.filled(d.name)
			list = append(list, f.Lines(d.name, 0, maxValues)...)
		case strings.Contains(i.Value, "\n"):
			list = append(list, i.Text(3))
		case i.Value != "":
			list = append(list, i)
		}
	}
	return list
}

// A choiceMade is what was chosen in a field.
type choiceMade struct {
	Name, Label string
	Values      []string
	Bound       bool // it is among Hidden
}

// Choices are for the same page: it does not know what else there is to choose.
func (f *form) Choices() (list []choiceMade) {
	for _, d := range f.kind.fields {
		if values := f.values[d.name]; d.choice && strings.Join(values, "") != "" {
			list = append(list, choiceMade{d.name, d.label, values, d.kind == isBound})
		}
	}
	return list
}
