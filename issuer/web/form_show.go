package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// This file is what templates ask a form for. Values that a page shows again
// are a person's own, and never a secret.

// Action is where the form is sent.
func (f *form) Action() string { return f.kind.address(f.kind.action, f.values.Get) }

// Multipart reports whether it has a file.
func (f *form) Multipart() bool { return f.kind.multipart() }

// Token is proof that this page showed this form, for this very object.
func (f *form) Token() string {
	about, _ := f.about()
	return formToken(f.key, f.kind.purpose, f.user, about)
}

// genuine reports whether the form was sent with such a token.
func (f *form) genuine() bool {
	about, ok := f.about()
	return ok && genuine(f.token, f.key, f.kind.purpose, f.user, about)
}

// about names the object: the parameters of the address and the bound fields.
// It is false for values that would run together to the same text as others.
func (f *form) about() (text string, ok bool) {
	var parts []string
	for _, name := range parameters(f.kind.action) {
		parts = append(parts, f.values.Get(name))
	}
	for _, hidden := range f.Hidden() {
		parts = append(parts, hidden.Value)
	}
	return strings.Join(parts, "\x00"), !slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(s, "\x00") })
}

// Hidden are the inputs that nobody sees.
func (f *form) Hidden() []input {
	var hidden []input
	for _, d := range f.kind.fields {
		if d.kind == isBound {
			hidden = append(hidden, input{Name: d.name, Value: f.values.Get(d.name)})
		}
	}
	return hidden
}

// Alert is a problem with no one field.
func (f *form) Alert() string { return f.alert }

// Problems are the others, in the order of the page.
func (f *form) Problems() []problem {
	order := func(p problem) int {
		name, _, _ := strings.Cut(strings.TrimPrefix(p.ID, "f-"), ".")
		return f.kind.field(name)
	}
	sorted := slices.Clone(f.problems)
	slices.SortStableFunc(sorted, func(a, b problem) int { return cmp.Compare(order(a), order(b)) })
	return sorted
}

// Changes reports whether it is for changing something. What is sent by GET,
// for which no page has to vouch, only asks.
func (f *form) Changes() bool { return f.kind.purpose != "" }

// Error is what is wrong with a field as a whole.
func (f *form) Error(name string) string { return f.errorAt(inputID(name, "")) }

// Has reports whether a list has a value: of boxes, whether it is ticked.
func (f *form) Has(name, value string) bool { return slices.Contains(f.values[name], value) }

func (f *form) errorAt(id string) string {
	for _, p := range f.problems {
		if p.ID == id {
			return p.Text
		}
	}
	return ""
}

// statusCode is what a page with this form is answered with.
func (f *form) statusCode() int {
	switch {
	case f.status != 0:
		return f.status
	case f.failed():
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// inputID is the id of a field's input, or of one line of a list.
func inputID(name, line string) string {
	if line == "" {
		return "f-" + name
	}
	return "f-" + name + "." + line
}

// An input is what the template "input" shows. The methods below change it, so
// that a template can say: (.Form.Input "website" "A hint.").Optional.
type input struct {
	ID, Name, Label, Hint, Value, Error string

	Type         string
	Autocomplete string
	Max          int // characters
	Rows         int // of a text of several lines; 0 for one line
	Accept       string
	IsOptional   bool
	Needed       string // which action of the form needs the input, in words; "" for every one
	Focus        bool   // the input is the first one with a problem
}

// Input is the input of a field.
func (f *form) Input(name, hint string) input {
	i := f.input(name, "", hint)
	i.Label = f.label(name)
	return i
}

// Group is what stands around the boxes, buttons or lines of a field: see the
// template "group".
func (f *form) Group(name, legend, hint string) input {
	i := f.input(name, "", hint)
	i.Label = legend
	return i
}

// Lines are the inputs of a list: those that are filled in and some empty ones,
// of at most that many in all. Their label has their number.
func (f *form) Lines(name string, empty, most int) []input {
	filled := f.values[name]
	lines := make([]input, min(len(filled)+empty, max(most, len(filled))))
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

func (f *form) label(name string) string { return f.kind.fields[f.kind.field(name)].label }

func (f *form) input(name, line, hint string) input {
	declared := f.kind.fields[f.kind.field(name)]
	i := input{ID: inputID(name, line), Name: name, Hint: hint, Value: f.values.Get(name), Type: "text"}
	i.Error = f.errorAt(i.ID)
	if sorted := f.Problems(); len(sorted) > 0 {
		i.Focus = sorted[0].ID == i.ID
	}
	switch declared.kind {
	case isSecret:
		i.Type, i.Value = "password", ""
	case isFile:
		i.Type, i.Value = "file", ""
	}
	return i
}

// Optional is for what need not be filled in.
func (i input) Optional() input { i.IsOptional = true; return i }

// NeededTo marks an input that only one of the form's actions needs. do names that
// action, such as "add an administrator".
func (i input) NeededTo(do string) input { i.IsOptional, i.Needed = true, do; return i }

// As is for what a browser may know already: a token of HTML's autocomplete.
func (i input) As(autocomplete string) input { i.Autocomplete = autocomplete; return i }

// AtMost bounds how many characters may be typed.
func (i input) AtMost(n int) input { i.Max = n; return i }

// Text is for several lines.
func (i input) Text(rows int) input { i.Rows = rows; return i }

// Accepting says which types of files there are to choose from.
func (i input) Accepting(types string) input { i.Accept = types; return i }
