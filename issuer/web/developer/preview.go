package developer

import (
	"cmp"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A preview is the consent page of an application as its form describes it.
type preview struct {
	Action        string // of the form
	Name, Purpose string
	Picture       *ui.Picture
	Own           ui.Picture // of this service
	Owner, Host   string
	Legacy        bool
	Permissions   []parts.Permissions
	Return        string // where people return; "" if no redirect URI is typed
}

// previewOf returns the preview of a form. logo is the current one: a new one is seen once it
// is saved.
func (w *Area) previewOf(f *site.Form, v *site.Session, logo []byte, legacy bool) preview {
	name := cmp.Or(f.Trimmed("name"), "Your application")
	p := preview{
		Action: f.Action(), Name: name, Purpose: cmp.Or(f.Trimmed("purpose"), "Its purpose, in your words."),
		Picture: &ui.Picture{Logo: site.LogoPath(logo), Initial: ui.Initial(name)},
		Own:     ui.Picture{Initial: ui.Initial(w.Brand().Name), Kind: "own"},
		Owner:   site.PersonOf(v.User).Name, Host: parts.HostOf(f.Trimmed("website")),
		Legacy: legacy, Permissions: parts.PermissionsOf(strings.Join(f.Values["scopes"], " ")),
	}
	if f.Get("no_logo") != "" {
		p.Picture.Logo = ""
	}
	for _, uri := range f.Values["redirect_uris"] {
		if uri = strings.TrimSpace(uri); uri != "" {
			p.Return = oauth.RedirectHost(uri)
			break
		}
	}
	return p
}
