package site

import (
	"cmp"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// This file handles forms that are sent after their session has ended. The response shows
// the user's input again, so that it is not lost. The server stores none of it: the input
// is sent with the form and returned with the response. No command is proposed before the
// user has signed in and sent the form again.

const (
	maxRedisplay = 32 << 10 // maximum bytes of input that are shown again

	// redisplayWindow is how long ago a page may have been loaded for its form to be
	// shown again. It is longer than a long weekend.
	redisplayWindow = 7 * 24 * time.Hour
)

const (
	alertEnded = "Nothing was saved yet, and nothing that you typed is lost. Two steps are left."
	alertStale = "You have signed in again since this page was opened. Check what you filled in, then submit it again. Nothing was saved yet."
)

// formNotices are notices that the page of any form may show.
var formNotices = Notices{"others": "Another user had filled in the form, so nothing was done."}

// Forms seals a record, contained in a form, of the user to whom the form was shown.
// Every node must be able to open what another one sealed.
type Forms interface {
	SealForm(plain []byte) string
	OpenForm(text string) ([]byte, error)
}

// redisplayable reports whether forms of this kind are shown again after their session
// has ended: those with input that may be shown, unlike a single button.
func (k *FormKind) redisplayable() bool {
	return slices.ContainsFunc(k.Fields, func(d Field) bool {
		return (d.kind == isText || d.kind == isList) && !d.choice && !d.private || d.kind == isBound && d.choice
	})
}

// ShownTo returns a sealed text that proves to which user, and about which object, this
// form was shown. Unlike Token it doesn't depend on the session, and it authorizes
// nothing by itself: see resubmitted. It is "" for a form that is not redisplayable.
func (f *Form) ShownTo() string {
	if !f.Kind.redisplayable() {
		return ""
	}
	plain := binary.BigEndian.AppendUint64(nil, uint64(f.site.Ledger.Now()))
	return f.site.Forms.SealForm(append(append(plain, f.object()...), f.user...))
}

// object returns a digest of the form's purpose and its object.
func (f *Form) object() []byte {
	about, _ := f.about()
	return DigestOf(string(f.Kind.Purpose) + "\x00" + about)
}

// shownToUser returns the id of the user in the ShownTo that was sent. ok is false if
// that is forged, about another object, or older than redisplayWindow.
func (f *Form) shownToUser() (user string, ok bool) {
	if _, clear := f.about(); !clear || !f.Kind.redisplayable() {
		return "", false
	}
	plain, err := f.site.Forms.OpenForm(f.shownTo)
	object := f.object()
	if err != nil || len(plain) <= 8+len(object) {
		return "", false
	}
	shown := ledger.Time(binary.BigEndian.Uint64(plain))
	user, ok = strings.CutPrefix(string(plain[8:]), string(object))
	return user, ok && f.site.Ledger.Now() < shown.Add(redisplayWindow)
}

// redisplayUnread is redisplay for a form whose body was not read yet. ended is the error
// that refused the request; it is returned if the form is not shown again.
func (w *Site) redisplayUnread(c *Request, kind *FormKind, ended error) error {
	if _, ok := errors.AsType[*signInFirst](ended); !ok || !kind.redisplayable() {
		return ended // without reading the body
	}
	f, err := w.read(c, kind)
	if err != nil {
		return ended
	}
	return w.redisplay(c, f, ended)
}

// redisplay shows a form again if err reports that its session has ended; any other error
// is returned. The new token is bound to the browser's form cookie instead of the
// session, so that it stays valid when the user signs in in another tab.
func (w *Site) redisplay(c *Request, f *Form, err error) error {
	if _, ended := errors.AsType[*signInFirst](err); !ended {
		return err
	}
	user, ok := f.shownToUser()
	if !ok || !f.strip() {
		return err
	}
	f.key, f.user = w.FormKey(c), user
	f.SetAlert(alertEnded, http.StatusForbidden)
	w.own.Render(c, f.status, "redisplay", ui.Page{Title: "Your session ended", Form: f, Body: redisplayBody{f, true}})
	return nil
}

type redisplayBody struct {
	Form  *Form
	Ended bool // nobody is signed in
}

// resubmitted reports whether the form comes from the page that redisplay showed in this
// browser, and was first shown to the user who is signed in now. Another site can't forge
// such a form: the request's origin is verified, and the token needs the browser's form
// cookie.
func (w *Site) resubmitted(c *Request, f *Form) bool {
	about, clear := f.about()
	user, ok := f.shownToUser()
	return clear && ok && user == f.user && Genuine(f.SentToken, w.SentFormKey(c), f.Kind.Purpose, user, about)
}

// stale handles a form that was shown in another session. If that was a session of the
// same user, the user may check the input and send it again. Any other user gets the
// form's page without the input.
func (w *Site) stale(c *Request, v Session, f *Form) error {
	user, ok := f.shownToUser()
	switch {
	case !ok:
		return ErrNotOurForm
	case user != v.User.ID:
		return c.RedirectNotice(c.ReturnTo, formNotices, "others")
	case !f.strip():
		return ErrNotOurForm
	}
	f.SetAlert(alertStale, http.StatusConflict)
	return w.own.Show(c, v, "redisplay", ui.Page{Title: "Submit again", Form: f, Body: redisplayBody{Form: f}})
}

// strip removes the values that may not be shown again. It returns false if more than
// maxRedisplay bytes are left.
func (f *Form) strip() bool {
	size := 0
	for _, d := range f.Kind.Fields {
		if d.kind == isSecret || d.private {
			f.Values.Del(d.Name)
		}
		for _, value := range f.Values[d.Name] {
			size += len(value)
		}
	}
	f.files, f.problems = nil, nil
	return size <= maxRedisplay
}

// confidential reports whether a value was sent that strip removes.
func (f *Form) confidential() bool {
	return slices.ContainsFunc(f.Kind.Fields, func(d Field) bool {
		return (d.kind == isSecret || d.private) && strings.Join(f.Values[d.Name], "") != ""
	})
}

// NotKept returns the inputs that the user must fill in again on the page that shows a form again:
// their values are not kept.
func (f *Form) NotKept() (list []ui.Input) {
	for _, d := range f.Kind.Fields {
		switch i := f.Input(d.Name, ""); {
		case d.Name == OwnPassword: // the required sign-in is sufficient proof
		case d.kind == isFile:
			i.Hint = "Files are not kept. Choose it again, if you chose one."
			list = append(list, i.Optional())
		case d.notKept():
			i.Hint = "Passwords are not kept. Enter it again."
			list = append(list, i.As("off"))
		}
	}
	return list
}

func (d *Field) notKept() bool {
	return d.kind == isFile || d.kind == isSecret || d.private && !d.choice
}

// Inputs returns, for the same page, the inputs with text that the user typed.
func (f *Form) Inputs() (list []ui.Input) {
	for _, d := range f.Kind.Fields {
		switch i := f.Input(d.Name, ""); {
		case d.kind == isBound || d.choice || d.notKept():
		case d.kind == isList:
			f.Filled(d.Name)
			lines := f.Lines(d.Name, 0, maxValues)
			if len(lines) == 1 {
				lines[0].Label = d.label
			}
			list = append(list, lines...)
		case strings.Contains(i.Value, "\n"):
			list = append(list, i.Text(3))
		case i.Value != "":
			list = append(list, i)
		}
	}
	return list
}

// A Selection is a field with the values that the user selected.
type Selection struct {
	Name, Label string
	Values      []ui.Option
	Bound       bool // the inputs of Hidden send the values
}

// Choices returns the selected values for the same page, which doesn't know the other options.
func (f *Form) Choices() (list []Selection) {
	for _, d := range f.Kind.Fields {
		if values := f.Values[d.Name]; d.choice && strings.Join(values, "") != "" {
			// As a title: the label begins sentences.
			title := strings.TrimSuffix(ui.Sentence(strings.TrimPrefix(strings.TrimPrefix(d.label, "The "), "selection of ")), ".")
			one := Selection{Name: d.Name, Label: title, Bound: d.kind == isBound}
			for _, value := range values {
				text := value
				if d.words != nil {
					text = cmp.Or(d.words(value), value)
				}
				one.Values = append(one.Values, ui.Option{Value: value, Text: text})
			}
			list = append(list, one)
		}
	}
	return list
}
