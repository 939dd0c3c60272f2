package site

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	// NoticeOld is the alert of a page whose form was no longer valid.
	NoticeOld = "This page was no longer up to date, so nothing was done. Please look again and decide."
	// NoticeMoved is the alert of a page whose object has changed since it was shown.
	NoticeMoved = "Something changed while the page was open, so nothing was done. Please look again and decide."
)

// A FormKind declares a form: where it is sent, where it is shown, and all fields that are read.
type FormKind struct {
	Purpose Purpose
	Action  string // a path with httprouter's parameters
	Page    string // the path of the page that shows it, with the action's parameters
	Ends    bool   // it only ends something, or locks somebody out; see limits
	Fields  []Field

	Undone string // what the page says beside its problems: "" for "Nothing was changed."
	Single bool   // it has one field: its problem is shown beside it, and not above the form too

	// Revisited permits the browser to store the page that shows problems of such a form, for
	// the back button: see allowBackCache. The form must not contain a secret.
	Revisited bool
}

// A Field is a field of a form. The functions below return one.
type Field struct {
	Name    string
	label   string // its name on the page, which also begins sentences about it
	kind    fieldKind
	maxSize int // of a file in bytes, of a text in characters; for a text, 0 means no limit

	choice  bool // the user selects the value on the page and doesn't type it
	private bool // only the form's own page may show the value again: see redisplay

	words func(value string) string // describes a selected value; nil if the value does
}

type fieldKind int

const (
	isText   fieldKind = iota
	isSecret           // never shown again
	isBound            // hidden; the page's token is bound to the value
	isList             // may occur more than once
	isFile
)

// TextField returns a field with one value.
func TextField(name, label string) Field { return Field{Name: name, label: label} }

// SecretField returns a field whose value is never shown again.
func SecretField(name, label string) Field { return Field{Name: name, label: label, kind: isSecret} }

// BoundField returns a hidden field. The page's token is bound to its value.
func BoundField(name string) Field { return Field{Name: name, kind: isBound} }

// ListField returns a field that may occur more than once.
func ListField(name, label string) Field { return Field{Name: name, label: label, kind: isList} }

// FileField returns a field for a file of at most the given size in bytes.
func FileField(name, label string, most int) Field {
	return Field{Name: name, label: label, kind: isFile, maxSize: most}
}

// AtMost returns the field with a maximum number of characters for its input. The handler of the
// form must check it again.
func (f Field) AtMost(n int) Field { f.maxSize = n; return f }

// Labelled returns the field with the label by which pages name its value.
func (f Field) Labelled(label string) Field { f.label = label; return f }

// Chosen marks a field whose value the user selects and doesn't type. The value of a bound field
// was selected on an earlier page.
func (f Field) Chosen() Field { f.choice = true; return f }

// Worded returns the field with the words for a value that the user selected, where only the value
// is known: see Form.Choices. "" leaves the value as it is.
func (f Field) Worded(words func(value string) string) Field { f.words = words; return f }

// Confidential marks a field whose text only the form's own page may show again.
func (f Field) Confidential() Field { f.private = true; return f }

func (k *FormKind) field(name string) int {
	return slices.IndexFunc(k.Fields, func(f Field) bool { return f.Name == name })
}

func (k *FormKind) multipart() bool {
	return slices.ContainsFunc(k.Fields, func(f Field) bool { return f.kind == isFile })
}

// Address replaces the parameters of a path.
func (k *FormKind) Address(pattern string, parameter func(name string) string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = url.PathEscape(parameter(name))
		}
	}
	return strings.Join(parts, "/")
}

// parameters returns the names of a path's parameters.
func parameters(pattern string) []string {
	var names []string
	for part := range strings.SplitSeq(pattern, "/") {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			names = append(names, name)
		}
	}
	return names
}

// A Form is a form of a kind, to be shown by a page or as sent by a browser. Both are the same
// type, so that a page can show again what was sent.
type Form struct {
	Kind      *FormKind
	SentToken string     // as sent
	Values    url.Values // by declared field, and by parameter of the action
	files     map[string][]byte

	site      *Site  // seals and opens shownTo
	shownTo   string // ShownTo, as sent
	key, user string // inputs of its token: see FormToken

	problems []ui.Problem
	alert    string // a problem that concerns no single field
	status   int    // 0 means the default for the problems

	reauth       *Reauth // the proof of identity that the page requests; set by RequireReauth
	signInTooOld bool    // the form was refused because the sign-in is too old
}

// Form returns a form for a page to show, with values for the action's parameters, the
// bound fields, and fields that are filled in.
func (v *Session) Form(kind *FormKind, values url.Values) *Form {
	if values == nil {
		values = url.Values{}
	}
	return &Form{Kind: kind, Values: values, site: v.site, key: v.ID, user: v.User.ID}
}

// Get returns the single value of a field, as sent.
func (f *Form) Get(name string) string {
	f.require(name)
	return f.Values.Get(name)
}

// Trimmed is Get for typed text, without surrounding spaces.
func (f *Form) Trimmed(name string) string { return strings.TrimSpace(f.Get(name)) }

// Filled returns the values of a list that are not empty. If the form is shown again, it
// has these values.
func (f *Form) Filled(name string) []string {
	f.require(name)
	var list []string
	for _, s := range f.Values[name] {
		if s = strings.TrimSpace(s); s != "" {
			list = append(list, s)
		}
	}
	f.Values[name] = list
	return list
}

// File returns the content of a file field, or nil.
func (f *Form) File(name string) []byte {
	f.require(name)
	return f.files[name]
}

func (f *Form) require(name string) {
	if f.Kind.field(name) < 0 && !slices.Contains(parameters(f.Kind.Action), name) {
		panic("web: the form for " + f.Kind.Action + " declares no " + name)
	}
}

// AddProblem adds a problem of a field, or of one line of a list, named as in the ledger:
// "website", "redirect_uris[3]". note completes a sentence that begins with the field's
// label.
func (f *Form) AddProblem(name, note string) {
	field, line, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	i := f.Kind.field(field)
	if i < 0 || f.Kind.Fields[i].kind == isBound {
		f.alert = ui.Sentence(name + " " + note)
		return
	}
	label := f.Kind.Fields[i].label
	if n, err := strconv.Atoi(line); err == nil {
		label += " " + strconv.Itoa(n+1)
	}
	f.addSentence(field, line, ui.Sentence(label+" "+note))
}

// AddSentence adds a problem of a field in a sentence of its own.
func (f *Form) AddSentence(name, text string) {
	field, line, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	f.addSentence(field, line, text)
}

func (f *Form) addSentence(field, line, text string) {
	f.problems = append(f.problems, ui.Problem{ID: inputID(field, line), Text: text})
}

// SetAlert sets a problem that concerns no single field, and the status of the page; 0 means the
// default.
func (f *Form) SetAlert(text string, status int) { f.alert, f.status = text, status }

// RefuseOldSignIn reports that the sign-in is too old for the form.
func (f *Form) RefuseOldSignIn() {
	f.signInTooOld = true
	f.SetAlert(alertConfirm, http.StatusForbidden)
}

// SignInTooOld reports whether the form was refused because the sign-in is too old.
func (f *Form) SignInTooOld() bool { return f.signInTooOld }

// RequireReauth makes the form ask the user to authenticate again.
func (f *Form) RequireReauth(r *Reauth) { f.reauth = r }

// Failed reports whether the form has problems. A nil form has none.
func (f *Form) Failed() bool { return f != nil && (len(f.problems) > 0 || f.alert != "") }

// noSuchUser is the ledger's note on an unknown user name, which needs a sentence of its own.
const noSuchUser = "is not a user here"

// Refused adds the reason why a command was refused.
func (f *Form) Refused(r *ledger.Refusal) *Form {
	switch {
	case r.Field == "username" && r.Note == noSuchUser:
		f.AddSentence(r.Field, "There is no user of that name.")
	case r.Field != "" && r.Note != "":
		f.AddProblem(r.Field, r.Note)
	case r.Cause == ledger.Conflict:
		f.alert, f.status = NoticeMoved, 409
	case r.Cause == ledger.SignInTooOld:
		f.RefuseOldSignIn()
	case r.Cause == ledger.TooManySecrets:
		f.alert = ui.Sentence(r.Cause.String()) + " Revoke one first."
	default:
		f.alert = ui.Sentence(r.Cause.String())
	}
	return f
}

const alertConfirm = "You signed in more than 15 minutes ago, so nothing was done. Please confirm that it is you, as below, and send the form again."
