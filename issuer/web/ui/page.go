package ui

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"unicode"
)

//go:embed templates
var templates embed.FS

// A Page is the data of the layout. Body is the data of the page's own template.
type Page struct {
	Title string // of the page, such as "Credentials"
	Name  string // of the object with tabs that the page belongs to, such as an application; or ""

	// The head of the page, in the shell only.
	Up      *Link
	Picture *Picture
	Pills   []Pill
	Lead    string
	Copy    *Copy
	Actions []Action
	Tabs    []Tab

	Notice string        // what was just done
	More   string        // follows Notice, but is not in the document's title
	See    *Link         // follows More: what Notice is about, if that is on another page
	Button *NoticeButton // beside Notice; nil for none
	Form   Form          // the form whose problems the layout shows
	Body   any

	// Rows and Truncate are for a page with a list. If the page exceeds MaxWeight, Truncate
	// is called with the number of rows to keep in Body, which must be a pointer.
	Rows     int
	Truncate func(rows int)

	Shell *Shell // nil for a page with one card
	Plain bool   // the card shows the brand itself
	Style string // path of a stylesheet of this page alone; "" for none
	Brand Brand
}

// A Form is what the layout shows of a page's form.
type Form interface {
	Failed() bool
	Alert() string       // a problem that concerns no single field
	Problems() []Problem // of fields, in the order of the page, to be listed above it
	Undone() string      // what didn’t happen because of the problems; "" for a form that changes nothing
}

// A Problem is a sentence about a field and the id of its input.
type Problem struct{ ID, Text string }

// A Brand is the name and the addresses that people know the service by. Logo and Style
// are paths, "" for the defaults; the links may be "". Without a logo, Initial stands for a
// name, and Mintmark's own mark for no name.
type Brand struct {
	Name, Initial        string
	Logo, Style          string
	Privacy, Terms, Help string
}

// A Shell is the navigation around the pages of a signed-in user.
type Shell struct {
	Groups       []NavGroup
	Person       string // name for display
	Account      string // path of the person's own page
	SignOut      string // path that the sign-out form is sent to
	SignOutToken string
	Zone         string // IANA name of the user's time zone; "" lets the script use the device's
	DraftKey     string // identifies the session to the script, for drafts; no secret
}

// A NavGroup is a titled part of the navigation.
type NavGroup struct {
	ID, Title string
	Items     []NavItem
}

// A NavItem is an entry of the navigation.
type NavItem struct {
	Title, Path, Icon string
	Here              bool   // it is the current page
	Below             bool   // the current page is below it
	Count             *Count // what waits there, nil for nothing
}

// A Count is a number beside a link. About completes it for screen readers, such as
// "waiting for review". Number is its value where counts are summed.
type Count struct {
	Text, About, Tone string
	Number            int
}

// NewCount returns the count of n, or nil for 0. Above 99 it is "99+".
func NewCount(n int, about string) *Count {
	switch {
	case n <= 0:
		return nil
	case n > 99:
		return &Count{Text: "99+", About: about, Number: n}
	}
	return &Count{Text: fmt.Sprint(n), About: about, Number: n}
}

// Waiting returns the sum of the counts, or "" if nothing waits.
func (s *Shell) Waiting() string {
	sum := 0
	for _, group := range s.Groups {
		for _, item := range group.Items {
			if item.Count != nil {
				sum += item.Count.Number
			}
		}
	}
	if count := NewCount(sum, ""); count != nil {
		return count.Text
	}
	return ""
}

// A NoticeButton is a form of the site with one button, which undoes what was just done or takes the
// next step.
type NoticeButton struct {
	Form any
	Do   string
}

// A Link is a path with its text.
type Link struct{ Title, Path string }

// A Tab is a page of an object with several.
type Tab struct {
	Title, Path string
	Here        bool
	Count       *Count
}

// Failed reports whether the page's form has a problem.
func (p *Page) Failed() bool { return p.Form != nil && p.Form.Failed() }

// Summary reports whether the layout lists the problems of the page's form.
func (p *Page) Summary() bool {
	return p.Failed() && (p.Form.Alert() != "" || len(p.Form.Problems()) > 0)
}

// Heading returns the text of the page's h1.
func (p *Page) Heading() string {
	if len(p.Tabs) > 0 {
		return p.Name
	}
	return p.Title
}

// FullTitle returns the title of the document, with what is new first: it is the first
// that a screen reader reads.
func (p *Page) FullTitle() string {
	parts := []string{p.Title, p.Name, p.Brand.Name}
	if p.Name == p.Title {
		parts[1] = ""
	}
	if p.Failed() {
		parts[0] = "Problem: " + parts[0]
	} else if p.Notice != "" {
		parts[0] = strings.TrimSuffix(p.Notice, ".") + " · " + parts[0]
	}
	var b strings.Builder
	for _, part := range parts {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(" · ")
		}
		b.WriteString(part)
	}
	return b.String()
}

// Pages are the parsed pages of an area, by their names.
type Pages map[string]*template.Template

// Parse parses a page for each file that matches a pattern. A page defines "body" and may
// use funcs, and the parts of this package and of the files that match parts.
func Parse(fsys fs.FS, funcs template.FuncMap, pages string, parts ...string) (Pages, error) {
	return parse(fsys, funcs, pages, parts, "templates/card.html", "templates/shell.html")
}

// ParseCards is Parse for pages that can't be shown in the shell, and so never with its
// script.
func ParseCards(fsys fs.FS, funcs template.FuncMap, pages string, parts ...string) (Pages, error) {
	return parse(fsys, funcs, pages, parts, "templates/card.html")
}

func parse(fsys fs.FS, funcs template.FuncMap, pattern string, parts []string, layouts ...string) (Pages, error) {
	base, err := template.New("").Funcs(functions()).ParseFS(templates, append(layouts, "templates/parts/*.html")...)
	if err != nil {
		return nil, fmt.Errorf("parse layout: %w", err)
	}
	if base.Funcs(funcs); len(parts) > 0 {
		if base, err = base.ParseFS(fsys, parts...); err != nil {
			return nil, fmt.Errorf("parse parts: %w", err)
		}
	}
	files, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("list pages: no file matches %s", pattern)
	}
	pages := Pages{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		page, err := base.Clone()
		if err != nil {
			return nil, fmt.Errorf("parse page %s: %w", name, err)
		}
		if pages[name], err = page.ParseFS(fsys, file); err != nil {
			return nil, fmt.Errorf("parse page %s: %w", name, err)
		}
	}
	return pages, nil
}

// functions returns what templates can call. Some make the values of parts, for texts that
// stand in a template.
func functions() template.FuncMap {
	a := Served()
	return template.FuncMap{
		"icon": icon, "verbatim": verbatim, "pieces": Pieces, "count": Plural, "comma": Comma[uint32], "duration": Duration,
		"style":   func() string { return a.Style.Path },
		"script":  func() string { return a.Script.Path },
		"favicon": func() string { return a.Icon.Path },
		"card":    func(id, title string) Card { return Card{ID: id, Title: title} },
		"danger":  func(id, title string) Card { return Card{ID: id, Title: title, Danger: true} },
		"callout": func(tone string) Callout { return Callout{Tone: tone} },
		"pill":    func(text, tone string) Pill { return Pill{Text: text, Tone: tone} },
		"copy":    func(id, label, value string) Copy { return Copy{ID: id, Label: label, Value: value} },
		"code":    func(id, label, text string) Code { return NewCode(id, label, Block{Text: text}) },
	}
}

// MaxWeight is the maximum size of a page with a list, in bytes, as far as fewer rows can
// achieve it.
const MaxWeight = 20_000

// Execute returns a complete page. It panics if the template and its data don't match.
func (ps Pages) Execute(name string, p *Page) []byte {
	text := ps.execute(name, p)
	for n := p.Rows; n > 1 && len(text) > MaxWeight; {
		n = max(1, min(n-1, n*MaxWeight/len(text)))
		p.Truncate(n)
		text = ps.execute(name, p)
	}
	return text
}

func (ps Pages) execute(name string, p *Page) []byte {
	page, layout := ps[name], "card.html"
	if p.Shell != nil {
		layout = "shell.html"
	}
	if page == nil {
		panic(fmt.Errorf("render page %s: no such page", name))
	}
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, layout, p); err != nil {
		panic(fmt.Errorf("render page %s: %w", name, err))
	}
	return bytes.Map(printable, b.Bytes())
}

// printable replaces characters that HTML doesn't permit (HTML §13.2.3.5), since requests
// may contain any bytes, and pages show input again.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return unicode.ReplacementChar
	}
	return r
}
