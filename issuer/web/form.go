package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A formKind declares a form: where it is sent, where it is shown, and all fields that are read.
type formKind struct {
	purpose purpose
	action  string // a path with httprouter's parameters
	page    string // the path of the page that shows it, with the action's parameters
	ends    bool   // it only ends something, or locks somebody out; see limits
	fields  []field

	// revisited permits the browser to store the page that shows problems of such a form, for
	// the back button: see allowBackCache. The form must not contain a secret.
	revisited bool
}

// A field is a field of a form. The functions below return one.
type field struct {
	name    string
	label   string // its name on the page, which also begins sentences about it
	kind    fieldKind
	maxSize int // for a file, in bytes

	choice  bool // the user selects the value on the page and doesn't type it
	private bool // only the form's own page may show the value again: see redisplay
}

type fieldKind int

const (
	isText   fieldKind = iota
	isSecret           // never shown again
	isBound            // hidden; the page's token is bound to the value
	isList             // may occur more than once
	isFile
)

func textField(name, label string) field   { return field{name: name, label: label} }
func secretField(name, label string) field { return field{name: name, label: label, kind: isSecret} }
func boundField(name string) field         { return field{name: name, kind: isBound} }
func listField(name, label string) field   { return field{name: name, label: label, kind: isList} }

func fileField(name, label string, most int) field {
	return field{name: name, label: label, kind: isFile, maxSize: most}
}

// labelled returns the field with the label by which pages name its value.
func (f field) labelled(label string) field { f.label = label; return f }

// chosen marks a field whose value the user selects and doesn't type. The value of a bound field
// was selected on an earlier page.
func (f field) chosen() field { f.choice = true; return f }

// confidential marks a field whose text only the form's own page may show again.
func (f field) confidential() field { f.private = true; return f }

func (k *formKind) field(name string) int {
	return slices.IndexFunc(k.fields, func(f field) bool { return f.name == name })
}

func (k *formKind) multipart() bool {
	return slices.ContainsFunc(k.fields, func(f field) bool { return f.kind == isFile })
}

// address replaces the parameters of a path.
func (k *formKind) address(pattern string, parameter func(name string) string) string {
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

// A form is a form of a kind, to be shown by a page or as sent by a browser. Both are the same
// type, so that a page can show again what was sent.
type form struct {
	kind   *formKind
	token  string     // as sent
	values url.Values // by declared field, and by parameter of the action
	files  map[string][]byte

	web       *Web   // seals and opens shownTo
	shownTo   string // ShownTo, as sent
	key, user string // inputs of its token: see formToken

	problems []ui.Problem
	alert    string // a problem that concerns no single field
	status   int    // 0 means the default for the problems

	reauth       *reauth // the proof of identity that the page requests; set by requireReauth
	signInTooOld bool    // the form was refused because the sign-in is too old
}

// form returns a form for a page to show, with values for the action's parameters, the
// bound fields, and fields that are filled in.
func (v *session) form(kind *formKind, values url.Values) *form {
	if values == nil {
		values = url.Values{}
	}
	return &form{kind: kind, values: values, web: v.web, key: v.id, user: v.user.ID}
}

// get returns the single value of a field, as sent.
func (f *form) get(name string) string {
	f.require(name)
	return f.values.Get(name)
}

// trimmed is get for typed text, without surrounding spaces.
func (f *form) trimmed(name string) string { return strings.TrimSpace(f.get(name)) }

// filled returns the values of a list that are not empty. If the form is shown again, it
// has these values.
func (f *form) filled(name string) []string {
	f.require(name)
	var list []string
	for _, s := range f.values[name] {
		if s = strings.TrimSpace(s); s != "" {
			list = append(list, s)
		}
	}
	f.values[name] = list
	return list
}

// file returns the content of a file field, or nil.
func (f *form) file(name string) []byte {
	f.require(name)
	return f.files[name]
}

func (f *form) require(name string) {
	if f.kind.field(name) < 0 && !slices.Contains(parameters(f.kind.action), name) {
		panic("web: the form for " + f.kind.action + " declares no " + name)
	}
}

// addProblem adds a problem of a field, or of one line of a list, named as in the ledger:
// "website", "redirect_uris[3]". note completes a sentence that begins with the field's
// label.
func (f *form) addProblem(name, note string) {
	field, line, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	i := f.kind.field(field)
	if i < 0 || f.kind.fields[i].kind == isBound {
		f.alert = ui.Sentence(name + " " + note)
		return
	}
	label := f.kind.fields[i].label
	if n, err := strconv.Atoi(line); err == nil {
		label += " " + strconv.Itoa(n+1)
	}
	f.problems = append(f.problems, ui.Problem{ID: inputID(field, line), Text: ui.Sentence(label + " " + note)})
}

// Failed reports whether the form has problems. A nil form has none.
func (f *form) Failed() bool { return f != nil && (len(f.problems) > 0 || f.alert != "") }

// noSuchUser is the ledger's note on an unknown user name, which needs a sentence of its own.
const noSuchUser = "is not a user here"

// refused adds the reason why a command was refused.
func (f *form) refused(r *ledger.Refusal) *form {
	switch {
	case r.Field == "username" && r.Note == noSuchUser:
		f.problems = append(f.problems, ui.Problem{ID: inputID(r.Field, ""), Text: "There is no user of that name."})
	case r.Field != "" && r.Note != "":
		f.addProblem(r.Field, r.Note)
	case r.Cause == ledger.Conflict:
		f.alert, f.status = noticeMoved, 409
	case r.Cause == ledger.SignInTooOld:
		f.signInTooOld, f.alert, f.status = true, alertConfirm, 403
	case r.Cause == ledger.TooManySecrets:
		f.alert = ui.Sentence(r.Cause.String()) + " Revoke one first."
	default:
		f.alert = ui.Sentence(r.Cause.String())
	}
	return f
}
