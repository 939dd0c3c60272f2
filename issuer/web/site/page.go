package site

import (
	"cmp"
	"encoding/hex"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// pathLogos is where the logos of applications and of the service are.
const pathLogos = "/logos/"

// PathLogo is the route of a logo.
const PathLogo = pathLogos + ":digest"

// LogoPath returns the path of the logo with the given SHA-256 digest, or "" for none.
func LogoPath(digest []byte) string {
	if len(digest) == 0 {
		return ""
	}
	return pathLogos + hex.EncodeToString(digest)
}

// Brand returns the name, the links and the logo that people know the service by.
func (w *Site) Brand() ui.Brand {
	s := w.Ledger.View().Settings()
	b := ui.Brand{Name: s.ServiceName(), Privacy: s.Brand.PrivacyURL, Terms: s.Brand.TermsURL, Help: s.Brand.HelpURL}
	if s.Brand.Logo != [32]byte{} {
		b.Logo = LogoPath(s.Brand.Logo[:])
	}
	return b
}

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
	p.Brand = w.Brand()
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
