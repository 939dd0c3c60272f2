package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"strings"
	"time"
	"unicode"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

//go:embed templates/*.html
var templates embed.FS

// A page is what the layout shows. Body is the page's own.
type page struct {
	Title string
	Body  any

	Style, Icon string // addresses; render fills them in
}

func parsePages() (map[string]*template.Template, error) {
	pages := map[string]*template.Template{}
	for _, name := range []string{"signin", "consent", "home", "error"} {
		t, err := template.New("layout.html").Funcs(template.FuncMap{"date": date, "day": day}).
			ParseFS(templates, "templates/layout.html", "templates/permissions.html", "templates/"+name+".html")
		if err != nil {
			return nil, fmt.Errorf("parse page %s: %w", name, err)
		}
		pages[name] = t
	}
	return pages, nil
}

// render writes a page, whole or not at all.
func (w *Web) render(c *call, status int, name string, p page) {
	p.Style, p.Icon = w.assets.style.path, w.assets.icon.path
	var b bytes.Buffer
	if err := w.pages[name].Execute(&b, p); err != nil {
		panic(fmt.Errorf("render page %s: %w", name, err)) // a template and its data disagree
	}
	c.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.WriteHeader(status)
	if !c.head() {
		_, _ = c.Write(b.Bytes()) // the browser went away
	}
}

// date and day write a time for people and for <time datetime>.
func date(t ledger.Time) string { return t.Std().Format("2 January 2006") }
func day(t ledger.Time) string  { return t.Std().Format(time.DateOnly) }

// A person is how pages name a user.
type person struct {
	Name     string // the name, or what stands for it
	Username string // empty where it would only repeat Name
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

// initial is the letter that stands for a picture.
func initial(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return string(unicode.ToUpper(r))
		}
	}
	return "?"
}
