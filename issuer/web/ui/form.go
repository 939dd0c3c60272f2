package ui

// An Input is the data of the templates "input" and "group". The methods return a changed
// copy, for templates such as (.Form.Input "website" "A hint.").Optional.
type Input struct {
	ID, Name, Label, Hint, Value, Error string

	Type         string
	Autocomplete string
	Max          int      // characters
	Rows         int      // lines of a text area; 0 for a single line
	Options      []Option // to select from; nil for a text
	Example      string   // shown while the input is empty
	Accept       string
	IsOptional   bool
	Unmarked     bool   // nothing beside the label says that it is optional
	Mark         string // a note beside the label, such as "in review"; or ""
	Needed       string // the only action of the form that needs the input, in words; "" for all
	Focus        bool   // the first input with a problem
	Reveal       bool   // a password that a button shows
	Copied       bool   // a value that a button copies
	Swatch       bool   // a color, which a stylesheet of the page gives to the class swatch
	Mirror       string // id of an element that shows the value as it is typed
	Confidential bool   // never kept as a draft
}

// Called replaces the label.
func (i Input) Called(label string) Input { i.Label = label; return i }

// Optional marks an input that may stay empty.
func (i Input) Optional() Input { i.IsOptional = true; return i }

// MayBeEmpty is Optional for a form that states what is required.
func (i Input) MayBeEmpty() Input { i.IsOptional, i.Unmarked = true, true; return i }

// NeededTo marks an input that only one of the form's actions needs. do names that
// action, such as "add an administrator".
func (i Input) NeededTo(do string) Input { i.IsOptional, i.Needed = true, do; return i }

// As sets HTML's autocomplete.
func (i Input) As(autocomplete string) Input { i.Autocomplete = autocomplete; return i }

// AtMost sets the maximum number of characters.
func (i Input) AtMost(n int) Input { i.Max = n; return i }

// Text makes the input a text area.
func (i Input) Text(rows int) Input { i.Rows = rows; return i }

// From makes the input a select.
func (i Input) From(options []Option) Input { i.Options = options; return i }

// Like sets an example of a value.
func (i Input) Like(example string) Input { i.Example = example; return i }

// Accepting sets the types of files that can be chosen.
func (i Input) Accepting(types string) Input { i.Accept = types; return i }

// Moment makes the input one for a day and a time. A value that is none stays as a text, since
// browsers don't show it otherwise.
func (i Input) Moment() Input {
	if i.Error == "" {
		i.Type = "datetime-local"
	}
	return i
}

// Revealed adds a button that shows the password.
func (i Input) Revealed() Input { i.Reveal = true; return i }

// WithCopy adds a button that copies the value.
func (i Input) WithCopy() Input { i.Copied = true; return i }

// WithSwatch shows the color that the input has.
func (i Input) WithSwatch() Input { i.Swatch = true; return i }

// Mirrored shows the value in another element as it is typed.
func (i Input) Mirrored(id string) Input { i.Mirror = id; return i }

// A RowList is a field with a line for each of its values. Those in More are behind a
// heading, or appear one by one with the script. Things names them, such as "redirect
// URIs".
type RowList struct {
	Group       Input
	Shown, More []Input
	Things      string
}

// A Choice is a box to tick or a button to choose, within a "group".
type Choice struct {
	Type, Name, Value string // Type is "checkbox" or "radio"
	Label, Hint       string
	Pill              *Pill
	On                bool
}

// An Option is an entry of a select.
type Option struct {
	Value, Text string
	Chosen      bool
}
