package ui

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// The tones of pills, counts, callouts and buttons. Warn means that the reader has to do
// something; Bad is for danger only. The neutral tone is "".
const (
	Info = "info"
	Warn = "warn"
	Bad  = "bad"
	Good = "good"
)

// A Pill is a short fact, such as a state. A list of pills is the template "chips".
type Pill struct{ Text, Tone string }

// Chips returns at most four texts as pills, and how many more there are.
func Chips(texts []string) []Pill { return FewChips(texts, 4) }

// FewChips returns the first texts as pills, and how many more there are.
func FewChips(texts []string, most int) []Pill {
	var pills []Pill
	for n, text := range texts {
		if n == most {
			pills = append(pills, Pill{Text: fmt.Sprintf("+%d", len(texts)-most)})
			break
		}
		pills = append(pills, Pill{Text: text})
	}
	return pills
}

// A Picture stands for an application or a person: a logo, else the initial letter.
type Picture struct {
	Logo, Initial string
	Kind          string // "", "person" or, for the service itself, "own"
	Small         bool
}

// An Action is a link that looks like a button, or the button of a form of the site without
// inputs, or one that asks before. About completes its text for screen readers.
type Action struct {
	Title, Path, Icon, About string
	Form                     any      // is sent instead of following Path; nil for a link
	Confirm                  *Confirm // is shown instead of a link; nil for a link
	Tone                     string
	Primary, Small, NewTab   bool
}

// A Card is the opening part of a box with a title; the page closes it with </section>.
type Card struct {
	ID, Title string
	Side      string // such as "1 of 3"
	Action    *Action
	Actions   []Action // instead of Action, for more than one
	Danger    bool
}

// TitleID returns the id of the card's heading.
func (c Card) TitleID() string {
	if c.ID != "" {
		return c.ID + "-title"
	}
	return "t-" + strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, c.Title)
}

// A Callout is a message within a page: the template "callout", or with content of the page
// the template "note", which the page closes with </div></div>.
type Callout struct {
	Tone        string
	Title, Text string
	Quote       string // what somebody wrote, before Text
	Action      *Action
	Role        string // "alert" or "status" if it is the answer to what the user did
}

// Icon returns the icon of the callout's tone.
func (c Callout) Icon() string {
	switch c.Tone {
	case Warn, Bad:
		return "warning"
	case Good:
		return "check"
	}
	return "info"
}

// Empty is shown instead of a list without entries.
type Empty struct {
	Title, Text string
	Actions     []Action
}

// The states of a step.
const (
	StepDone  = "done"
	StepNow   = "now"
	StepLater = "later"
)

// A Step is a part of a task, with a link or with a form of the site, whose button is Do. A
// list of steps is the template "steps".
type Step struct {
	Title, Text string
	State       string
	Action      *Action
	Form        any
	Do          string
}

// Done reports whether the step is done.
func (s Step) Done() bool { return s.State == StepDone }

// Said returns the state for screen readers.
func (s Step) Said() string {
	switch s.State {
	case StepDone:
		return "Done"
	case StepNow:
		return "Current"
	}
	return ""
}

// A Copy is a value with a button that copies it. Wide gives it a frame and the whole
// width.
type Copy struct {
	ID, Label, Value string
	Wide             bool
}

// Code is a block of code, or several with a tab each.
type Code struct {
	ID, Label string
	Blocks    []Block
}

// A Block is the text of a tab of Code; Name is "" for the only one.
type Block struct {
	Name, Text string
	Lines      []string // the parts of Text that have a line each, which copying joins; or nil

	// The following fields are set by NewCode.
	ID, Label, Of string
	Open          bool
}

// NewCode returns the code with its blocks; label names it for screen readers.
func NewCode(id, label string, blocks ...Block) Code {
	c := Code{ID: id, Label: label, Blocks: blocks}
	for n := range blocks {
		b := &blocks[n]
		b.ID, b.Of, b.Label, b.Open = fmt.Sprintf("%s-%d", id, n), id, label, n == 0
		if b.Name != "" {
			b.Label += ", " + b.Name
		}
	}
	return c
}

// escapes replaces what would be markup in the text of an element. It keeps quotes and plus signs,
// which html/template escapes too: they are frequent in code.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\x00", "\ufffd")

// verbatim escapes a text for an element. It must not be used in an attribute.
func verbatim(text string) template.HTML { return template.HTML(escapes.Replace(text)) }

// Tabs reports whether the code has several blocks.
func (c Code) Tabs() bool { return len(c.Blocks) > 1 }

// A Confirm is a button that asks before it does something. Form is a form of the site,
// as the template "form" takes it.
type Confirm struct {
	Button, About   string // such as "Disconnect", and the application's name
	Title, Text, Do string // the question, what will happen, the button that does it
	Tone            string
	Small           bool
	Quiet           bool // the button that opens the question is neutral: only the one in it has the tone
	Open            bool // the question is shown, since its form was refused
	Form            any
}

// A Menu is a button with a list of links.
type Menu struct {
	Label string
	Items []MenuItem
	Small bool
}

// A MenuItem is an entry of a menu.
type MenuItem struct{ Title, Path, Tone string }

// Danger is the box of what can't be undone.
type Danger struct{ Lines []DangerLine }

// A DangerLine is a thing that can't be undone, with a button or a link to a page of its
// own.
type DangerLine struct {
	Title, Text string
	Confirm     *Confirm
	Action      *Action
}

// Card returns the box around the lines.
func (Danger) Card() Card { return Card{ID: "danger", Title: "Danger zone", Danger: true} }

// A Difference is a field whose values differ.
type Difference struct {
	Title         string
	Before, After string // for a field with one value; "" if there is none
	Logo          bool   // the values are paths of pictures

	Removed, Added, Kept []string // for a list
	Powerful             []string // those of Added that control other people
}

// IsPowerful reports whether something that is added is marked.
func (d Difference) IsPowerful(added string) bool { return slices.Contains(d.Powerful, added) }
