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

// Brand returns the name, the links, the logo and the stylesheet that people know the service by.
func (w *Site) Brand() ui.Brand {
	s := w.Ledger.View().Settings()
	b := BrandOf(&s.Brand)
	if style := w.brandStyle(s.Brand.Accent); style != nil {
		b.Style = style.Path
	}
	return b
}

// BrandOf returns a brand for display, without its stylesheet.
func BrandOf(b *ledger.Brand) ui.Brand {
	shown := ui.Brand{Name: cmp.Or(b.Name, ledger.DefaultServiceName), Privacy: b.PrivacyURL, Terms: b.TermsURL, Help: b.HelpURL}
	switch {
	case b.Logo != [32]byte{}:
		shown.Logo = LogoPath(b.Logo[:])
	case b.Name != "":
		shown.Initial = ui.Initial(b.Name)
	}
	return shown
}

// A brandStyle is the stylesheet of an accent.
type brandStyle struct {
	accent string
	ui.Asset
}

// brandStyle returns the stylesheet of an accent, or nil for the default.
func (w *Site) brandStyle(accent string) *ui.Asset {
	if accent == "" {
		return nil
	}
	made := w.style.Load()
	if made == nil || made.accent != accent {
		made = &brandStyle{accent: accent, Asset: ui.BrandStyle(accent)}
		w.style.Store(made)
	}
	return &made.Asset
}

// Up returns the link to the page above another.
func Up(title, path string) *ui.Link { return &ui.Link{Title: title, Path: path} }

// Show shows a page with the navigation, to a signed-in user.
func (w *Area) Show(c *Request, v Session, name string, p ui.Page) error {
	p.Notice = cmp.Or(p.Notice, formNotices.Text(c))
	status := http.StatusOK
	if f, _ := p.Form.(*Form); f != nil {
		status = f.statusCode()
		allowBackCache(c, f)
		if f.Failed() {
			p.Notice = ""
		}
	}
	w.show(c, v, status, name, p)
	return nil
}

func (w *Area) show(c *Request, v Session, status int, name string, p ui.Page) {
	p.Shell = w.shell(c, &v, p.Up)
	c.Header().Set("Content-Security-Policy", shellPolicy)
	w.Render(c, status, name, p)
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
