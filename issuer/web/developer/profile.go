package developer

import (
	"crypto/sha256"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// profileFields are the fields of a client that are reviewed.
var profileFields = []site.Field{
	site.TextField("name", "Name"),
	site.TextField("purpose", "Purpose"),
	site.TextField("website", "Website"),
	site.TextField("privacy_url", "Privacy policy"),
	site.TextField("terms_url", "Terms"),
	site.FileField("logo", "Logo", ledger.MaxLogo),
	site.TextField("no_logo", "No logo").Chosen(),
	site.ListField("redirect_uris", "Redirect URI"),
	site.ListField("scopes", "The selection of scopes").Chosen(),
	site.TextField("preview", "Button").Chosen(), // set if the page is only to be shown again
}

// A profileForm is the data of the template "profile".
type profileForm struct {
	*site.Form
	What, Where ui.Card
	Ask         *ui.Card // nil if no scopes can be chosen
	URIs        ui.RowList
	Scopes      ui.Matrix
	Logo        string // the current logo; "" if there is none
	LogoHint    string
	New         bool
	Do, Back    string // the button's text, and where Cancel leads to
	Preview     preview
}

// showProfile returns the form of the client, or of a new one if that is nil. logo is the
// current one.
func (w *Area) showProfile(f *site.Form, v *site.Session, client *ledger.Client, logo []byte) profileForm {
	hint := "A PNG or JPEG of at most 16 KB."
	switch file := f.File("logo"); {
	case file == nil || f.Error("logo") != "":
	case f.Failed():
		f.AddProblem("logo", "has to be chosen again: browsers don’t keep files")
	default:
		hint = "Choose it again before you submit: browsers don’t keep files. " + hint
	}
	lines := f.Lines("redirect_uris", ledger.MaxRedirectURIs, ledger.MaxRedirectURIs)
	shown := min(max(1, len(f.Values["redirect_uris"])), len(lines))
	legacy := client != nil && client.Legacy
	p := profileForm{
		Form: f, Scopes: parts.ScopeMatrix(f.Values["scopes"]),
		What:  ui.Card{ID: "what", Title: "What is it?", Side: "1 of 3"},
		Where: ui.Card{ID: "where", Title: "Where do people return?", Side: "2 of 3"},
		Ask:   &ui.Card{ID: "ask", Title: "What may it ask for?", Side: "3 of 3"},
		Logo:  site.LogoPath(logo), LogoHint: hint, New: client == nil, Do: "Register", Back: parts.PathDeveloper,
		Preview: w.previewOf(f, v, logo, legacy),
		URIs: ui.RowList{
			Group: f.Group("redirect_uris", "Redirect URIs", "Up to 10 exact addresses: https://, or http:// for this device only (localhost, 127.0.0.1, [::1])."),
			Shown: lines[:shown], More: lines[shown:], Things: "redirect URIs",
		},
	}
	if client != nil {
		p.Do, p.Back = "Save", parts.ClientPath(client.ID)
	}
	if legacy {
		p.What.Side, p.Where.Side, p.Ask = "1 of 2", "2 of 2", nil
	}
	return p
}

// profileIn returns the profile in the form, with the picture if one was chosen. It reports
// all problems at their fields at once; the ledger checks again. had is nil for a new
// application.
func profileIn(f *site.Form, view ledger.View, t ledger.ClientType, had *ledger.Client, logo []byte) (p ledger.Profile, picture []byte) {
	p = ledger.Profile{
		Name: f.Trimmed("name"), Website: f.Trimmed("website"), Logo: logo,
		PrivacyURL: f.Trimmed("privacy_url"), TermsURL: f.Trimmed("terms_url"),
		// The input may have line breaks, which are not stored.
		Purpose:      strings.Join(strings.Fields(f.Get("purpose")), " "),
		RedirectURIs: f.Filled("redirect_uris"), Scopes: f.Filled("scopes"),
	}
	least := ledger.MinScopes
	if had != nil && had.Legacy {
		p.Scopes, least = nil, 0
	}
	for _, fault := range view.ProfileFaults(&p, t, least) {
		if fault.Field == "redirect_uris" && len(p.RedirectURIs) == 0 {
			f.AddProblem("redirect_uris[0]", "is missing: at least one is needed")
			continue
		}
		f.AddProblem(fault.Field, fault.Note)
	}
	if f.Get("no_logo") != "" {
		p.Logo = nil
	}
	if file := f.File("logo"); file != nil {
		var note string
		if picture, note = parts.Remade(file); note != "" {
			f.AddProblem("logo", note)
			return p, nil
		}
		sum := sha256.Sum256(picture)
		p.Logo = sum[:]
	}
	return p, picture
}
