package site

import (
	"cmp"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Brand is the name that people know the service by.
var Brand = ui.Brand{Name: "Mintmark"}

// Up returns the link to the page above another.
func Up(title, path string) *ui.Link { return &ui.Link{Title: title, Path: path} }

// Show shows a page with the navigation, to a signed-in user.
func (w *Area) Show(c *Request, v Session, name string, p ui.Page) error {
	p.Shell = w.shell(c, &v)
	p.Notice = cmp.Or(p.Notice, formNotices.Text(c))
	status := http.StatusOK
	if f, _ := p.Form.(*Form); f != nil {
		status = f.statusCode()
		if f.Failed() {
			allowBackCache(c, f)
			p.Notice = ""
		}
	}
	c.Header().Set("Content-Security-Policy", shellPolicy)
	w.Render(c, status, name, p)
	return nil
}

// Render writes a complete page, or nothing if rendering fails.
func (w *Area) Render(c *Request, status int, name string, p ui.Page) {
	p.Brand = Brand
	text := w.Pages.Execute(name, &p)
	c.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.WriteHeader(status)
	if !c.IsHead() {
		_, _ = c.Write(text) // the browser may have disconnected
	}
}

// PortraitOf returns the picture that represents a user.
func PortraitOf(u *ledger.User) *ui.Picture {
	return &ui.Picture{Initial: ui.Initial(PersonOf(u).Name), Kind: "person"}
}
