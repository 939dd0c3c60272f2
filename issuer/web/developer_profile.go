package web

import (
	"crypto/sha256"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// profileFields are the fields of a client that are reviewed.
var profileFields = []field{
	textField("name", "Name"),
	textField("purpose", "Purpose"),
	textField("website", "Website"),
	textField("privacy_url", "Privacy policy"),
	textField("terms_url", "Terms"),
	fileField("logo", "Logo", ledger.MaxLogo),
	textField("no_logo", "No logo").chosen(),
	listField("redirect_uris", "Redirect URI"),
	listField("scopes", "The selection of scopes").chosen(),
}

// A profileForm is the data of the template "profile".
type profileForm struct {
	*form
	URIs   ui.RowList
	Scopes []scopeGroup
	Logo   string // the current logo; "" if there is none
	Legacy bool   // no scopes can be chosen
}

func showProfile(f *form, logo []byte, legacy bool) profileForm {
	if f.Failed() && f.file("logo") != nil && f.Error("logo") == "" {
		f.addProblem("logo", "has to be chosen again: browsers don’t keep files")
	}
	lines := f.Lines("redirect_uris", ledger.MaxRedirectURIs, ledger.MaxRedirectURIs)
	shown := min(max(1, len(f.values["redirect_uris"])), len(lines))
	return profileForm{
		form: f, Scopes: scopeGroups(f.values["scopes"], false),
		Logo: logoPath(logo), Legacy: legacy,
		URIs: ui.RowList{
			Group: f.Group("redirect_uris", "Redirect URIs", "Up to 10 exact addresses that people are returned to with a code: https://, or http:// for this device only (localhost, 127.0.0.1, [::1])."),
			Shown: lines[:shown], More: lines[shown:], Things: "redirect URIs",
		},
	}
}

// profile returns the profile in the form, with the picture if one was chosen. It reports
// all problems at their fields at once; the ledger checks again. had is nil for a new
// application.
func (f *form) profile(view ledger.View, t ledger.ClientType, had *ledger.Client, logo []byte) (p ledger.Profile, picture []byte) {
	p = ledger.Profile{
		Name: f.trimmed("name"), Website: f.trimmed("website"), Logo: logo,
		PrivacyURL: f.trimmed("privacy_url"), TermsURL: f.trimmed("terms_url"),
		// The input may have line breaks, which are not stored.
		Purpose:      strings.Join(strings.Fields(f.get("purpose")), " "),
		RedirectURIs: f.filled("redirect_uris"), Scopes: f.filled("scopes"),
	}
	least := ledger.MinScopes
	if had != nil && had.Legacy {
		p.Scopes, least = nil, 0
	}
	for _, fault := range view.ProfileFaults(&p, t, least) {
		if fault.Field == "redirect_uris" && len(p.RedirectURIs) == 0 {
			f.addProblem("redirect_uris[0]", "is missing: at least one is needed")
			continue
		}
		f.addProblem(fault.Field, fault.Note)
	}
	if f.get("no_logo") != "" {
		p.Logo = nil
	}
	if file := f.file("logo"); file != nil {
		var note string
		if picture, note = remade(file); note != "" {
			f.addProblem("logo", note)
			return p, nil
		}
		sum := sha256.Sum256(picture)
		p.Logo = sum[:]
	}
	return p, picture
}
