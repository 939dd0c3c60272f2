package developer

import (
	"crypto/sha256"
	"slices"
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
	site.TextField("website", "Website URL"),
	site.TextField("privacy_url", "Privacy policy URL"),
	site.TextField("terms_url", "Terms URL"),
	site.FileField("logo", "Logo", ledger.MaxLogo),
	site.TextField("no_logo", "No logo").Chosen(),
	site.ListField("redirect_uris", "Redirect URI"),
	site.ListField("scopes", "The selection of scopes").Chosen().Worded(parts.ScopeText),
	site.TextField("preview", "Button").Chosen(), // set if the page is only to be shown again
}

// A profileForm is the data of the template "profile".
type profileForm struct {
	*site.Form
	What, Where ui.Card
	Ask         *ui.Card // nil if no scopes can be chosen
	URIs        ui.RowList
	Scopes      ui.Matrix
	ScopesHint  string
	Logo        string // the current logo; "" if there is none
	LogoHint    string
	New         bool
	Do, Back    string // the button's text, and where Cancel leads to
	Preview     preview
	Changed     []ui.Difference // what a proposed revision changes
	Added       []string        // scopes in review
}

// inReview marks what a proposed revision adds or changes.
const inReview = "in review"

// Input marks the inputs of what is in review.
func (p profileForm) Input(name, hint string) ui.Input {
	i := p.Form.Input(name, hint)
	if slices.ContainsFunc(p.Changed, func(d ui.Difference) bool { return d.Title == parts.FieldTitles[name] }) {
		i.Mark = inReview
	}
	return i
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
	shown := 1 // up to the last one with a text: browsers send the empty ones too
	for i, line := range lines {
		if line.Value != "" || line.Error != "" {
			shown = i + 1
		}
	}
	legacy := client != nil && client.Legacy
	p := profileForm{
		Form: f, Scopes: parts.ScopeMatrix(f.Values["scopes"]), ScopesHint: "Choose as few as it needs.",
		What:  ui.Card{ID: "what", Title: "What is it?", Side: "1 of 3"},
		Where: ui.Card{ID: "where", Title: "Where do people return?", Side: "2 of 3"},
		Ask:   &ui.Card{ID: "ask", Title: "Scopes: what may it ask for?", Side: "3 of 3"},
		Logo:  site.LogoPath(logo), LogoHint: hint, New: client == nil, Do: "Register", Back: parts.PathDeveloper,
		Preview: w.previewOf(f, v, logo, legacy),
		URIs: ui.RowList{
			Group: f.Group("redirect_uris", "Redirect URIs", "Up to 10 exact addresses. Use https:// (http:// only for localhost, 127.0.0.1 and [::1])."),
			Shown: lines[:shown], More: lines[shown:], Things: "redirect URIs",
		},
	}
	if client != nil {
		p.URIs.Group.Hint += " Empty a field to remove it."
		if client.Reviewed() {
			p.ScopesHint = "What you untick ends when you save; to get it back needs a review."
		}
		p.Do, p.Back = "Save", parts.ClientPath(client.ID)
		if client.Proposed != nil {
			p.Changed = parts.Differences(&client.Profile, client.Proposed)
		}
	}
	for _, d := range p.Changed {
		switch d.Title {
		case parts.FieldTitles["scopes"]:
			p.Added = d.Added
		case parts.FieldTitles["redirect_uris"]:
			for i := range p.URIs.Shown {
				switch line := &p.URIs.Shown[i]; {
				case slices.Contains(d.Added, line.Value):
					line.Mark = inReview
				case slices.Contains(d.Kept, line.Value):
					line.Mark = "approved"
				}
			}
		}
	}
	if legacy {
		p.What.Side, p.Where.Side, p.Ask = "1 of 2", "2 of 2", nil
	}
	return p
}

// faultWords are sentences for what is left out. Those about another fault begin with the field's
// label.
var faultWords = map[string]string{
	"name is empty":                    "Enter a name.",
	"redirect_uris needs at least one": "Enter a redirect URI.",
	"scopes needs at least one":        "Choose at least one scope.",
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
		if text := faultWords[fault.Field+" "+fault.Note]; text != "" {
			field := fault.Field
			if field == "redirect_uris" {
				field += "[0]"
			}
			f.AddSentence(field, text)
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
