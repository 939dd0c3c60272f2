package admin

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// pathDraftStyle is the stylesheet of the preview, for administrators only.
const pathDraftStyle = parts.PathAdminBranding + "/draft.css"

// brandingForm keeps a draft of the brand. Its fields are named as the settings are.
var brandingForm = site.FormKind{
	Purpose: forBranding, Action: parts.PathAdminBranding, Page: parts.PathAdminBranding,
	Fields: []site.Field{
		site.BoundField("expected_last"),
		brandField("service_name").AtMost(ledger.MaxServiceName), brandField("accent").AtMost(len("#0b6b50")), site.TextField("readable_accent", parts.BrandTitles["accent"]).Chosen(),
		site.FileField("logo", parts.BrandTitles["logo"], ledger.MaxLogo), site.TextField("no_logo", "No logo").Chosen(),
		brandField("privacy_url"), brandField("terms_url"), brandField("help_url"),
		brandField("forgot_password").AtMost(ledger.MaxForgot), brandField("forgot_password_url"),
	},
}

func brandField(setting string) site.Field {
	return site.TextField(setting, parts.BrandTitles[setting])
}

var publishBrandForm = site.FormKind{
	Purpose: forPublishBranding, Action: parts.PathAdminBranding + "/publish", Page: parts.PathAdminBranding,
	Fields: []site.Field{site.BoundField("expected_last"), site.OwnPasswordField()},
}

var discardBrandForm = site.FormKind{
	Purpose: forDiscardBranding, Action: parts.PathAdminBranding + "/discard", Page: parts.PathAdminBranding,
	Fields: []site.Field{site.BoundField("expected_last")},
}

var brandingNotices = site.Notices{
	"draft":     "Preview updated. Nothing is published yet.",
	"published": "Published. All pages show it now.",
	"discarded": "Draft discarded. Nothing was published.",
	"gone":      "There is no draft any more: it was published or discarded.",
}

type brandingBody struct {
	Form     *site.Form
	Defaults brandDefaults
	Readable string // the accent offered instead of the form's, which was refused; "" if it was not
	Logo     string // path of the logo of the form's draft

	Card      ui.Card    // the preview: of the draft if there is one, otherwise of what is published
	Draft     bool       // there is one
	Publish   *site.Form // publishes the draft after asking for a password; nil if none is needed
	Brand     ui.Brand
	Forgot    parts.Forgot
	Asker     parts.Asker
	Asks      parts.Asks
	Contrasts []ui.ContrastRow
	Shown     string // the accent as the light theme shows it, if it had to be made darker
}

// brandDefaults are the values that take effect where a field is empty; "" where nothing does.
type brandDefaults struct{ Name, Accent, Forgot string }

func (w *Area) brandingPage(c *site.Request, v site.Session) error {
	return w.showBranding(c, v, nil)
}

// basis returns what the page starts from: the draft, else what is published.
func basis(s *ledger.Settings) *ledger.Brand {
	if s.HasDraft {
		return &s.Draft
	}
	return &s.Brand
}

// showBranding shows the page. sent is one of its forms, as sent; or nil.
func (w *Area) showBranding(c *site.Request, v site.Session, sent *site.Form) error {
	s := v.View.Settings()
	b, last := basis(s), url.Values{"expected_last": {expectedLast(s.Last)}}
	form := func(kind *site.FormKind, values url.Values) *site.Form {
		if sent != nil && sent.Kind == kind {
			sent.Values.Set("expected_last", expectedLast(s.Last))
			return sent
		}
		return v.Form(kind, values)
	}
	shown := site.BrandOf(b)
	body := brandingBody{
		Form: form(&brandingForm, url.Values{
			"expected_last": last["expected_last"], "service_name": {b.Name}, "accent": {b.Accent},
			"privacy_url": {b.PrivacyURL}, "terms_url": {b.TermsURL}, "help_url": {b.HelpURL},
			"forgot_password": {b.Forgot}, "forgot_password_url": {b.ForgotURL},
		}),
		Card: ui.Card{ID: "preview", Title: "As published"},
		Logo: shown.Logo, Draft: s.HasDraft, Brand: shown, Forgot: parts.ForgotOf(b),
		Asker: parts.Asker{
			Client: "Example App", Picture: &ui.Picture{Initial: "E"}, Own: parts.OwnPicture(shown), Purpose: "Shows what an application looks like.",
			Owner: site.PersonOf(v.User).Name, Reviewer: shown.Name, Preview: true,
		},
		Asks:      parts.AsksOf("BOOKING_READ BOOKING_WRITE PROFILE_READ", scope.Set{}),
		Contrasts: ui.Contrasts(b.Accent),
	}
	if p := ui.Palettes(b.Accent)[0]; b.Accent != "" && p.Accent != strings.ToLower(b.Accent) {
		body.Shown = p.Accent
	}
	if f := body.Form; f.Failed() && f.File("logo") != nil && f.Error("logo") == "" {
		f.AddProblem("logo", "has to be chosen again: browsers don’t keep files")
	}
	body.Defaults = brandDefaults{Name: ledger.DefaultServiceName, Accent: ui.Palettes("")[0].Accent}
	if body.Form.Get("forgot_password_url") == "" { // a link takes the place of the default
		body.Defaults.Forgot = body.Forgot.Default()
	}
	if body.Form.Error("accent") != "" {
		body.Readable = ledger.ReadableAccent(body.Form.Trimmed("accent"))
	}
	page := ui.Page{
		Title: "Branding", Lead: "This is how the service looks to people when they sign in and connect apps.",
		Notice: brandingNotices.Text(c), Form: sent, Body: &body, Style: pathDraftStyle,
	}
	if s.HasDraft {
		page.Pills = []ui.Pill{{Text: "Draft not published", Tone: ui.Warn}}
		body.Card.Title = "Preview of the draft"
		publish := form(&publishBrandForm, last)
		if w.prover.RequireReauth(&v, publish, "publish"); publish.Reauth() != nil {
			body.Publish = publish
		} else {
			body.Card.Actions = []ui.Action{{Title: "Publish", Form: publish, Primary: true}}
		}
		body.Card.Actions = append(body.Card.Actions, ui.Action{Title: "Discard draft", Form: form(&discardBrandForm, last)})
	}
	return w.showAdmin(c, v, "branding", page)
}

// draftStyle serves the colors of the previewed brand. They apply to cards and their tops, of which
// the page has none but those of the preview, and to the swatch beside the accent.
func (w *Area) draftStyle(c *site.Request, v site.Session) error {
	c.Header().Set("Content-Type", "text/css; charset=utf-8")
	c.WriteHeader(http.StatusOK)
	if !c.IsHead() {
		accent := basis(v.View.Settings()).Accent
		_, _ = c.Write(ui.PaletteStyle(":is(.card,.top)", accent)) // the browser may have disconnected
		_, _ = fmt.Fprintf(c, ".swatch{background:%s}\n", cmp.Or(accent, ui.Palettes("")[0].Accent))
	}
	return nil
}

// draftBrand keeps what was sent as the draft.
func (w *Area) draftBrand(c *site.Request, v site.Session, f *site.Form) error {
	accent := strings.ToLower(f.Trimmed("accent"))
	// The offered color only replaces the one that it was offered for: Enter in an input sends it too.
	if offered := f.Get("readable_accent"); offered != "" && offered == ledger.ReadableAccent(accent) {
		accent = offered
		f.Values.Set("accent", accent)
	}
	step := &ledger.SetBrand{Step: ledger.BrandDraft, Brand: ledger.Brand{
		Name: f.Trimmed("service_name"), Accent: accent,
		PrivacyURL: f.Trimmed("privacy_url"), TermsURL: f.Trimmed("terms_url"), HelpURL: f.Trimmed("help_url"),
		// The input may have line breaks, which are not stored.
		Forgot: strings.Join(strings.Fields(f.Get("forgot_password")), " "), ForgotURL: f.Trimmed("forgot_password_url"),
	}}
	if f.Get("no_logo") == "" {
		step.Brand.Logo = basis(v.View.Settings()).Logo
	}
	if field, note := step.Brand.Check(); field != "" {
		f.AddProblem(field, note)
	}
	if file := f.File("logo"); file != nil {
		picture, note := parts.Remade(file)
		if note != "" {
			f.AddProblem("logo", note)
		}
		step.Logo, step.Brand.Logo = picture, sha256.Sum256(picture)
	}
	if f.Failed() {
		return w.showBranding(c, v, f)
	}
	return w.setBrand(c, v, f, step, "draft", "#preview")
}

// publishBrand publishes the draft.
func (w *Area) publishBrand(c *site.Request, v site.Session, f *site.Form) error {
	if ok, err := w.prover.Reauthenticate(c, &v, f, w.showBranding); !ok {
		return err
	}
	return w.endDraft(c, v, f, ledger.BrandPublish, "published")
}

func (w *Area) discardBrand(c *site.Request, v site.Session, f *site.Form) error {
	return w.endDraft(c, v, f, ledger.BrandDiscard, "discarded")
}

// endDraft does what ends the draft. A form that is sent twice ends it once.
func (w *Area) endDraft(c *site.Request, v site.Session, f *site.Form, how ledger.BrandStep, done string) error {
	s := v.View.Settings()
	if !s.HasDraft {
		return c.RedirectNotice(parts.PathAdminBranding, brandingNotices, "gone")
	}
	step := &ledger.SetBrand{Step: how}
	if how == ledger.BrandPublish {
		step.Brand = s.Draft
	}
	return w.setBrand(c, v, f, step, done, "")
}

// setBrand proposes a step, for the settings that the page showed. It redirects to the page, at the
// anchor part.
func (w *Area) setBrand(c *site.Request, v site.Session, f *site.Form, step *ledger.SetBrand, done, part string) error {
	seen, ok := parseExpectedLast(f.Get("expected_last"))
	if !ok {
		return site.ErrUnreadable
	}
	step.Actor, step.ExpectedLast = v.Actor(), command.ID(seen)
	refused, err := w.Propose(c, &v, "set the brand", step)
	switch {
	case err != nil:
		return err
	case refused == nil:
		return c.RedirectNotice(parts.PathAdminBranding+part, brandingNotices, done)
	}
	if v.View, err = w.Fresh(c.R.Context()); err != nil {
		return err
	}
	switch s := v.View.Settings(); {
	case refused.Cause != ledger.Conflict:
	case step.Step == ledger.BrandDraft && s.HasDraft && s.Draft == step.Brand: // the same form was sent twice
		return c.RedirectNotice(parts.PathAdminBranding+part, brandingNotices, done)
	case step.Step != ledger.BrandDraft && !s.HasDraft:
		return c.RedirectNotice(parts.PathAdminBranding, brandingNotices, "gone")
	}
	return w.showBranding(c, v, f.Refused(refused))
}
