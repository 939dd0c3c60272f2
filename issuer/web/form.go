package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A formKind declares a form: where it is sent, where it is shown, and all
// that is read of what is sent.
type formKind struct {
	purpose purpose
	action  string // a pattern of httprouter's
	page    string // the pattern of the page that shows it, with the action's parameters
	ends    bool   // it does no more than end something, or lock somebody out; see limits
	fields  []field

	// revisited lets the browser keep the page that tells what is wrong with such a
	// form, for whoever goes back to it: see allowBackCache. No secret may be in it.
	revisited bool
}

// A field is declared by one of the functions below.
type field struct {
	name    string
	label   string // what the page calls it, and what begins a sentence about it
	kind    fieldKind
	maxSize int // of a file, in bytes

	choice  bool // the user picks the value from a list on the page; nothing is typed
	private bool // only the form's own page may show the value again: see keep
}

type fieldKind int

const (
	isText   fieldKind = iota
	isSecret           // never shown again
	isBound            // hidden; the page's token is for this value and no other
	isList             // may come more than once
	isFile
)

func textField(name, label string) field   { return field{name: name, label: label} }
func secretField(name, label string) field { return field{name: name, label: label, kind: isSecret} }
func boundField(name string) field         { return field{name: name, kind: isBound} }
func listField(name, label string) field   { return field{name: name, label: label, kind: isList} }

func fileField(name, label string, most int) field {
	return field{name: name, label: label, kind: isFile, maxSize: most}
}

// labelled gives the field the label by which pages name its value.
func (f field) labelled(label string) field { f.label = label; return f }

// chosen marks a field whose value the user picks and doesn't type. The value of a
// bound field was picked on the page before.
func (f field) chosen() field { f.choice = true; return f }

// confidential marks a field whose text no page but the form's own may show.
func (f field) confidential() field { f.private = true; return f }

func (k *formKind) field(name string) int {
	return slices.IndexFunc(k.fields, func(f field) bool { return f.name == name })
}

func (k *formKind) multipart() bool {
	return slices.ContainsFunc(k.fields, func(f field) bool { return f.kind == isFile })
}

// address fills in the parameters of a pattern.
func (k *formKind) address(pattern string, parameter func(name string) string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = url.PathEscape(parameter(name))
		}
	}
	return strings.Join(parts, "/")
}

// parameters are the names of a pattern's parameters.
func parameters(pattern string) []string {
	var names []string
	for part := range strings.SplitSeq(pattern, "/") {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			names = append(names, name)
		}
	}
	return names
}

// A form is one of a kind: as a page shows it, and as a browser sent it. It is
// the same type for both, so that a page can show again what was sent.
type form struct {
	kind   *formKind
	token  string     // as it was sent
	values url.Values // by declared field, and by parameter of the action
	files  map[string][]byte

	web       *Web   // seals and opens shownTo
	shownTo   string // ShownTo, as it was sent
	key, user string // what its token is made from: see formToken

	problems []problem
	alert    string // a problem with no one field
	status   int    // 0 for what the problems imply

	reauth       *reauth // the proof of identity that the page asks for; set by requireReauth
	signInTooOld bool    // the form was refused since the user signed in too long ago
}

// A problem is a sentence about one field.
type problem struct {
	ID   string // of the input
	Text string
}

// form is an empty form for a page to show, but for the values given: those of
// the action's parameters and bound fields, and what is filled in already.
func (v *session) form(kind *formKind, values url.Values) *form {
	if values == nil {
		values = url.Values{}
	}
	return &form{kind: kind, values: values, web: v.web, key: v.id, user: v.user.ID}
}

// get is the one value of a field, as it was sent.
func (f *form) get(name string) string {
	f.require(name)
	return f.values.Get(name)
}

// trimmed is get for what a person typed in a line.
func (f *form) trimmed(name string) string { return strings.TrimSpace(f.get(name)) }

// filled are the values of a list that are not empty; the form is shown again
// with these.
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

// file is what was sent in a field for a file; nil for none.
func (f *form) file(name string) []byte {
	f.require(name)
	return f.files[name]
}

func (f *form) require(name string) {
	if f.kind.field(name) < 0 && !slices.Contains(parameters(f.kind.action), name) {
		panic("web: the form for " + f.kind.action + " declares no " + name)
	}
}

// addProblem says what is wrong with a field, or with one line of a list, as the
// ledger names it: "website", "redirect_uris[3]". The note is the rest of a
// sentence that the field's label begins.
func (f *form) addProblem(name, note string) {
	field, line, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	i := f.kind.field(field)
	if i < 0 || f.kind.fields[i].kind == isBound {
		f.alert = sentence(name + " " + note)
		return
	}
	label := f.kind.fields[i].label
	if n, err := strconv.Atoi(line); err == nil {
		label += " " + strconv.Itoa(n+1)
	}
	f.problems = append(f.problems, problem{ID: inputID(field, line), Text: sentence(label + " " + note)})
}

// failed reports whether anything was found wrong.
func (f *form) failed() bool { return len(f.problems) > 0 || f.alert != "" }

// noSuchUser is what the ledger notes of a user name that nobody has: no sentence
// that begins with the field's label says that well.
const noSuchUser = "is not a user here"

// refused tells why a command was refused.
func (f *form) refused(r *ledger.Refusal) *form {
	switch {
	case r.Field == "username" && r.Note == noSuchUser:
		f.problems = append(f.problems, problem{ID: inputID(r.Field, ""), Text: "There is no user of that name."})
	case r.Field != "" && r.Note != "":
		f.addProblem(r.Field, r.Note)
	case r.Cause == ledger.Conflict:
		f.alert, f.status = noticeMoved, 409
	case r.Cause == ledger.SignInTooOld:
		f.signInTooOld, f.alert, f.status = true, alertConfirm, 403
	default:
		f.alert = sentence(r.Cause.String())
	}
	return f
}
