package developer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// A preview is the consent page of an application as its form describes it.
type preview struct {
	Action        string // of the form
	Name, Purpose string
	Picture       *ui.Picture
	Own           ui.Picture // of this service
	Owner, Host   string
	Legacy        bool
	Rows          []ui.PermissionRow
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
		Legacy: legacy, Rows: rowsOf(f.Values["scopes"]),
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

// rowsOf returns a row for each area of scopes.
func rowsOf(names []string) (rows []ui.PermissionRow) {
	for _, s := range scope.Catalogue() {
		if !slices.Contains(names, s.Name) {
			continue
		}
		n := slices.IndexFunc(rows, func(r ui.PermissionRow) bool { return r.Area == s.Area })
		if n < 0 {
			n = len(rows)
			rows = append(rows, ui.PermissionRow{Area: s.Area})
		}
		rows[n].Change = rows[n].Change || s.Writes
	}
	return rows
}
