package web

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

//go:embed templates
var templates embed.FS

// parts are the templates that pages share.
const parts = "templates/parts/*.html"

var pageFuncs = template.FuncMap{
	"date": date, "day": day, "moment": moment, "instant": instant, "state": statePill,
}

// parsedPages parses the embedded templates once.
var parsedPages = sync.OnceValues(parsePages)

// parsePages parses the pages of signed-in users, and those of templates/cards, which have
// neither navigation nor script.
func parsePages() (ui.Pages, error) {
	pages, err := ui.Parse(templates, pageFuncs, "templates/*.html", parts)
	if err != nil {
		return nil, fmt.Errorf("parse pages: %w", err)
	}
	cards, err := ui.ParseCards(templates, pageFuncs, "templates/cards/*.html", parts)
	if err != nil {
		return nil, fmt.Errorf("parse cards: %w", err)
	}
	maps.Copy(pages, cards)
	return pages, nil
}

var brand = ui.Brand{Name: "Mintmark"}

// up returns the link to the page above another.
func up(title, path string) *ui.Link { return &ui.Link{Title: title, Path: path} }

// show shows a page with the navigation, to a signed-in user.
func (w *Web) show(c *request, v session, name string, p ui.Page) error {
	p.Shell = w.shell(c, &v)
	p.Notice = cmp.Or(p.Notice, formNotices.text(c))
	status := http.StatusOK
	if f, _ := p.Form.(*form); f != nil {
		status = f.statusCode()
		if f.Failed() {
			allowBackCache(c, f)
			p.Notice = ""
		}
	}
	c.Header().Set("Content-Security-Policy", shellPolicy)
	w.render(c, status, name, p)
	return nil
}

// render writes a complete page, or nothing if rendering fails.
func (w *Web) render(c *request, status int, name string, p ui.Page) {
	p.Brand = brand
	text := w.pages.Execute(name, &p)
	c.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.WriteHeader(status)
	if !c.isHead() {
		_, _ = c.Write(text) // the browser may have disconnected
	}
}

// A person is the name of a user for display.
type person struct {
	Name     string // the name, or a replacement
	Username string // "" if it would repeat Name
}

// portraitOf returns the picture that represents a user.
func portraitOf(u *ledger.User) *ui.Picture {
	return &ui.Picture{Initial: ui.Initial(personOf(u).Name), Kind: "person"}
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
