package web

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// profileFields are those of a client that a review looks at.
var profileFields = []field{
	textField("name", "Name"),
	textField("purpose", "Purpose"),
	textField("website", "Website"),
	fileField("logo", "Logo", ledger.MaxLogo),
	textField("no_logo", "No logo"),
	listField("redirect_uris", "Redirection URI"),
	listField("scopes", "The selection of scopes"),
}

// A profileForm is what the template "profile" shows.
type profileForm struct {
	*form
	Shown  []input // lines for redirection URIs
	More   []input // and those behind a click
	Scopes []scopeGroup
	Logo   string // the one that there is; "" for none
	Legacy bool   // there are no scopes to choose from
}

func showProfile(f *form, logo []byte, legacy bool) profileForm {
	if f.failed() && f.file("logo") != nil && f.Error("logo") == "" {
		f.wrong("logo", "has to be chosen again: browsers do not keep files")
	}
	lines := f.Lines("redirect_uris", ledger.MaxRedirectURIs, ledger.MaxRedirectURIs)
	shown := min(max(1, len(f.values["redirect_uris"])), len(lines))
	return profileForm{
		form: f, Shown: lines[:shown], More: lines[shown:], Scopes: scopeGroups(f.values["scopes"], false),
		Logo: logoPath(logo), Legacy: legacy,
	}
}

// profile is what the form says, with the picture where one was chosen. What
// is wrong is said beside each field; the ledger checks again.
func (f *form) profile(public, legacy bool, logo []byte) (p ledger.Profile, picture []byte) {
	p = ledger.Profile{
		Name: f.trimmed("name"), Website: f.trimmed("website"), Logo: logo,
		// People write it in lines, and it is kept as one.
		Purpose:      strings.Join(strings.Fields(f.get("purpose")), " "),
		RedirectURIs: f.filled("redirect_uris"), Scopes: f.filled("scopes"),
	}
	if p.Name == "" {
		f.wrong("name", "is empty")
	}
	f.checkURIs(p.RedirectURIs, public)
	switch {
	case legacy:
		p.Scopes = nil
	case len(p.Scopes) == 0:
		f.wrong("scopes", "needs at least one")
	}
	if f.get("no_logo") != "" {
		p.Logo = nil
	}
	if picture = f.file("logo"); picture != nil {
		if note := checkLogo(picture); note != "" {
			f.wrong("logo", note)
			return p, nil
		}
		sum := sha256.Sum256(picture)
		p.Logo = sum[:]
	}
	return p, picture
}

// checkURIs says everything at once, where the ledger stops at the first.
func (f *form) checkURIs(uris []string, public bool) {
	if len(uris) == 0 {
		f.wrong("redirect_uris[0]", "is missing: at least one is needed")
	}
	if len(uris) > ledger.MaxRedirectURIs {
		f.wrong("redirect_uris", fmt.Sprintf("may be there %d times at most", ledger.MaxRedirectURIs))
	}
	for i, uri := range uris {
		line := fmt.Sprintf("redirect_uris[%d]", i)
		if note := oauth.CheckRedirectURI(uri, public); note != "" {
			f.wrong(line, note)
		} else if slices.Contains(uris[:i], uri) {
			f.wrong(line, "is there twice")
		}
	}
}
