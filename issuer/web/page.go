package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"unicode"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

//go:embed templates
var templates embed.FS

// A page is the data of the layout. Body is the data of the page's own template.
type page struct {
	Title  string
	Trail  []crumb    // the pages above this one, without the home page
	Areas  []menuItem // the other pages of the same section, if it has several
	Notice string     // what was just done
	Form   *form      // the form whose problems the layout shows
	Body   any

	// Rows and Cut are for a page with a list. If the page exceeds maxWeight, Cut is
	// called with the number of rows to keep in Body, which must be a pointer.
	Rows     int
	Truncate func(rows int)

	// The following fields are set by show, for a signed-in user.
	Menu    []menuItem
	Account *accountMenu

	Style, Icon string // addresses; set by render
}

// A crumb is a page above another.
type crumb struct{ Title, Path string }

// A menuItem is an entry of the navigation.
type menuItem struct {
	Title, Path, About string
	Here               bool // it is the current page
	Below              bool // the current page is below it
	account            bool // see menu
}

// accountMenu is the last entry of the navigation.
type accountMenu struct {
	menuItem
	Person       person
	SignOutToken string
}

// parsedPages parses the embedded templates once.
var parsedPages = sync.OnceValues(parsePages)

// parsePages parses a page for each file of templates/, which defines "body" and may
// redefine "heading" and "head".
func parsePages() (map[string]*template.Template, error) {
	pages := map[string]*template.Template{}
	files, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "layout" {
			continue
		}
		if pages[name], err = parsePage(templates, file); err != nil {
			return nil, fmt.Errorf("parse page %s: %w", name, err)
		}
	}
	return pages, nil
}

func parsePage(in fs.FS, file string) (*template.Template, error) {
	t, err := template.New("layout.html").Funcs(template.FuncMap{
		"date": date, "day": day, "moment": moment, "instant": instant, "words": durationText, "count": count, "state": stateName,
		"pieces": pieces,
	}).ParseFS(templates, "templates/layout.html", "templates/parts/*.html")
	if err != nil {
		return nil, err
	}
	return t.ParseFS(in, file)
}

// show shows a page with the navigation, to a signed-in user.
func (w *Web) show(c *request, v session, name string, p page) error {
	for _, item := range w.menu(c, &v) {
		if item.account {
			p.Account = &accountMenu{menuItem: item, Person: personOf(v.user), SignOutToken: formToken(v.id, forSignOut, "", "")}
			continue
		}
		p.Menu = append(p.Menu, item)
	}
	if p.Notice == "" {
		p.Notice = formNotices.text(c)
	}
	status := http.StatusOK
	if p.Form != nil {
		status = p.Form.statusCode()
		if p.Form.failed() {
			allowBackCache(c, p.Form)
			p.Notice = ""
		}
	}
	w.render(c, status, name, p)
	return nil
}

// menu returns the navigation of a session.
func (w *Web) menu(c *request, v *session) []menuItem {
	var list []menuItem
	for _, r := range w.table {
		if r.menu == nil || r.who == administrators && !v.user.Admin {
			continue
		}
		item := menuItem{Title: r.menu.title, Path: r.path, About: r.menu.about, account: r.menu.account, Here: r.path == c.route}
		item.Below = !item.Here && r.path != pathHome && strings.HasPrefix(c.route, r.path+"/")
		list = append(list, item)
	}
	return list
}

// Failed reports whether the page's form has a problem.
func (p page) Failed() bool { return p.Form != nil && p.Form.failed() }

// maxWeight is the maximum size of a page with a list, in bytes, as far as fewer rows can
// achieve it.
const maxWeight = 15_000

// render writes a complete page, or nothing if rendering fails.
func (w *Web) render(c *request, status int, name string, p page) {
	p.Style, p.Icon = w.assets.style.path, w.assets.icon.path
	text := w.execute(name, p)
	for n := p.Rows; n > 1 && len(text) > maxWeight; {
		n = max(1, min(n-1, n*maxWeight/len(text)))
		p.Truncate(n)
		text = w.execute(name, p)
	}
	c.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.WriteHeader(status)
	if !c.isHead() {
		_, _ = c.Write(text) // the browser may have disconnected
	}
}

func (w *Web) execute(name string, p page) []byte {
	var b bytes.Buffer
	if err := w.pages[name].Execute(&b, p); err != nil {
		panic(fmt.Errorf("render page %s: %w", name, err)) // template and data don't match
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

// A person is the name of a user for display.
type person struct {
	Name     string // the name, or a replacement
	Username string // "" if it would repeat Name
}

func personOf(u *ledger.User) person {
	for _, name := range []string{u.Name, u.Username, u.Email} {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if name == u.Username {
			return person{Name: name}
		}
		return person{Name: name, Username: u.Username}
	}
	return person{Name: u.ID}
}
