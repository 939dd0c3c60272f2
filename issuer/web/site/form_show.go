package site

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// This file has the methods that templates call on a form. Values that a page shows again
// are the user's own, and never secrets.

// Action returns the path that the form is sent to.
func (f *Form) Action() string { return f.Kind.Address(f.Kind.Action, f.Values.Get) }

// Page returns the path of the page that shows the form.
func (f *Form) Page() string { return f.Kind.Address(f.Kind.Page, f.Values.Get) }

// Multipart reports whether the form has a file field.
func (f *Form) Multipart() bool { return f.Kind.multipart() }

// Token returns a proof that this page showed this form, for its object.
func (f *Form) Token() string {
	about, _ := f.about()
	return FormToken(f.key, f.Kind.Purpose, f.user, about)
}

// genuine reports whether the form was sent with a valid token.
func (f *Form) genuine() bool {
	about, ok := f.about()
	return ok && Genuine(f.SentToken, f.key, f.Kind.Purpose, f.user, about)
}

// about returns a text that identifies the object: the parameters of the path and the
// bound fields. ok is false for values that would make the text ambiguous.
func (f *Form) about() (text string, ok bool) {
	var parts []string
	for _, name := range parameters(f.Kind.Action) {
		parts = append(parts, f.Values.Get(name))
	}
	for _, hidden := range f.Hidden() {
		parts = append(parts, hidden.Value)
	}
	return strings.Join(parts, "\x00"), !slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(s, "\x00") })
}

// Hidden returns the hidden inputs.
func (f *Form) Hidden() []ui.Input {
	var hidden []ui.Input
	for _, d := range f.Kind.Fields {
		if d.kind == isBound {
			hidden = append(hidden, ui.Input{Name: d.Name, Value: f.Values.Get(d.Name)})
		}
	}
	return hidden
}

// Resent returns the values of the other fields as hidden inputs, for a page that asks a question
// before the form is sent again. It leaves out secrets and files.
func (f *Form) Resent() (list []ui.Input) {
	for _, d := range f.Kind.Fields {
		if d.kind != isText && d.kind != isList {
			continue
		}
		for _, value := range f.Values[d.Name] {
			list = append(list, ui.Input{Name: d.Name, Value: value})
		}
	}
	return list
}

// Alert returns a problem that concerns no single field.
func (f *Form) Alert() string { return f.alert }

// Problems returns the problems of fields, in the order of the page: none if the kind is Single.
func (f *Form) Problems() []ui.Problem {
	if f.Kind.Single {
		return nil
	}
	return f.sorted()
}

func (f *Form) sorted() []ui.Problem {
	order := func(p ui.Problem) int {
		name, _, _ := strings.Cut(strings.TrimPrefix(p.ID, "f-"), ".")
		return f.Kind.field(name)
	}
	sorted := slices.Clone(f.problems)
	slices.SortStableFunc(sorted, func(a, b ui.Problem) int { return cmp.Compare(order(a), order(b)) })
	return sorted
}

// Draft reports whether the script keeps what was typed, to be restored after a reload.
func (f *Form) Draft() bool { return f.Kind.Revisited }

// Undone returns what didn't happen because of the problems: "" for a form sent by GET, which
// changes nothing and needs no token.
func (f *Form) Undone() string {
	if f.Kind.Purpose == "" {
		return ""
	}
	return cmp.Or(f.Kind.Undone, "Nothing was changed.")
}

// Error returns the problem of a field as a whole.
func (f *Form) Error(name string) string { return f.errorAt(inputID(name, "")) }

// Has reports whether a field has a value, such as whether a box is ticked.
func (f *Form) Has(name, value string) bool { return slices.Contains(f.Values[name], value) }

func (f *Form) errorAt(id string) string {
	for _, p := range f.problems {
		if p.ID == id {
			return p.Text
		}
	}
	return ""
}

// statusCode returns the status of a page with this form.
func (f *Form) statusCode() int {
	switch {
	case f.status != 0:
		return f.status
	case f.Failed():
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// inputID returns the id of a field's input, or of one line of a list.
func inputID(name, line string) string {
	if line == "" {
		return "f-" + name
	}
	return "f-" + name + "." + line
}

// Input returns the input of a field.
func (f *Form) Input(name, hint string) ui.Input {
	i := f.input(name, "", hint)
	i.Label = f.label(name)
	return i
}

// Group returns the group around the boxes, buttons or lines of a field: see the template
// "group".
func (f *Form) Group(name, legend, hint string) ui.Input {
	i := f.input(name, "", hint)
	i.Label = legend
	return i
}

// Lines returns the inputs of a list: the filled ones and some empty ones, at most that
// many in all. Labels include their number.
func (f *Form) Lines(name string, empty, most int) []ui.Input {
	filled := f.Values[name]
	lines := make([]ui.Input, min(len(filled)+empty, max(most, len(filled))))
	for n := range lines {
		lines[n] = f.input(name, strconv.Itoa(n), "")
		lines[n].Label = f.label(name) + " " + strconv.Itoa(n+1)
		lines[n].IsOptional = n > 0
		lines[n].Value = ""
		if n < len(filled) {
			lines[n].Value = filled[n]
		}
	}
	return lines
}

func (f *Form) label(name string) string { return f.Kind.Fields[f.Kind.field(name)].label }

func (f *Form) input(name, line, hint string) ui.Input {
	declared := f.Kind.Fields[f.Kind.field(name)]
	i := ui.Input{ID: inputID(name, line), Name: name, Hint: hint, Value: f.Values.Get(name), Type: "text", Max: declared.maxSize}
	i.Error = f.errorAt(i.ID)
	if sorted := f.sorted(); len(sorted) > 0 {
		i.Focus = sorted[0].ID == i.ID
	}
	switch declared.kind {
	case isSecret:
		i.Type, i.Value = "password", ""
	case isFile:
		i.Type, i.Value, i.Max = "file", "", 0
	}
	return i
}
