package developer

import (
	"cmp"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// A preview is the consent page of an application as its form describes it.
type preview struct {
	Action string // of the form
	Asker  parts.Asker
	Asks   parts.Asks
	Return string // where people return; "" if no redirect URI is typed
}

// previewOf returns the preview of a form. logo is the current one: a new one is seen once it
// is saved.
func (w *Area) previewOf(f *site.Form, v *site.Session, logo []byte, legacy bool) preview {
	brand, name := w.Brand(), cmp.Or(f.Trimmed("name"), "Your application")
	p := preview{
		Action: f.Action(),
		Asker: parts.Asker{
			Client: name, Picture: &ui.Picture{Logo: site.LogoPath(logo), Initial: ui.Initial(name)},
			Own:     parts.OwnPicture(brand),
			Purpose: cmp.Or(f.Trimmed("purpose"), "Its purpose, in your words."), Owner: site.PersonOf(v.User).Name,
			Website: webAddress(f, "website"), PrivacyURL: webAddress(f, "privacy_url"), TermsURL: webAddress(f, "terms_url"),
			Reviewer: brand.Name, Preview: true,
		},
		Asks: parts.AsksOf(strings.Join(f.Values["scopes"], " "), scope.Set{}),
	}
	p.Asks.All, p.Asks.Legacy = nil, legacy // the rows are enough here
	if f.Get("no_logo") != "" {
		p.Asker.Picture.Logo = ""
	}
	for _, uri := range f.Values["redirect_uris"] {
		if uri = strings.TrimSpace(uri); uri != "" {
			p.Return = oauth.RedirectHost(uri)
			break
		}
	}
	return p
}

// webAddress returns a field with the address of a page, or "" if it can't be one.
func webAddress(f *site.Form, name string) string {
	if address := f.Trimmed(name); strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		return address
	}
	return ""
}
