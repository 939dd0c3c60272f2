package developer_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

const (
	scopesPath  = MinePath + "/scopes"
	discardPath = MinePath + "/discard"
)

// turnedDown returns an env with an approved application whose proposed revision was refused.
func turnedDown(t *testing.T) (*Env, *Browser) {
	t.Helper()
	w, b := Mine(t, nil)
	edit := MinePath + "/edit"
	form := b.Get(edit).Form(t, edit)
	for name, list := range ProfileOf("A better name", Callback+"/new", "BOOKING_READ", "BOOKING_WRITE", "TEAM_BOOKING_READ", "ORG_PROFILE_READ", "PROFILE_READ") {
		form[name] = list
	}
	form["redirect_uris"] = append(form["redirect_uris"], Callback)
	b.Done(b.PostParts(edit, form, Part{Name: "logo", File: "me.jpg", Content: string(Photo(64, 64))}))
	w.Refuse("mine", "Not that <name>.")
	return w, b
}

// TestRefusedChanges verifies that a refused revision is shown with its reason, its time
// and all changes.
func TestRefusedChanges(t *testing.T) {
	w, b := turnedDown(t)
	page := b.Get(scopesPath)
	for _, text := range []string{
		"Changes that were rejected", `Rejected <time datetime="` + w.Clock().UTC().Format("2006-01-02T15:04:05Z") + `" title="4 March 2026, 12:00 UTC" data-ago>just now</time>.`,
		"<b>Why:</b> <bdi>Not that &lt;name&gt;.</bdi>", "<del><b>Before:</b> <bdi>The mine app</bdi></del>",
		"<ins><b>After:</b> <bdi>A better name</bdi></ins>", "<ins><b>Adds:</b> " + Callback + "/new</ins>", "<ins><b>Adds:</b> PROFILE_READ</ins>",
		`<a class="button primary" href="/developer/clients/mine/edit?from=refused">Edit and resubmit</a>`, "Dismiss",
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.NotContains(t, page.Text, "The last reviewer wrote", "the reason must be shown once")
	assert.Contains(t, b.Get("/developer").Text, `<span class="pill warn">Changes rejected</span>`)

	w.Must(&ledger.ReviewClient{Actor: Operator, ID: "mine", Verdict: ledger.Suspend, Reason: "It sends spam.", Revision: w.ClientRow("mine").Revision})
	page = b.Get(MinePath)
	assert.Contains(t, page.Text, "<b>Suspended just now:</b> <bdi>It sends spam.</bdi>")
	assert.Contains(t, page.Text, "<b>Your changes were rejected:</b> <bdi>Not that &lt;name&gt;.</bdi>")
}

// TestDiscardWaitingChanges verifies that the owner can take back what waits for a review: the
// application stays as it is.
func TestDiscardWaitingChanges(t *testing.T) {
	w, b := Mine(t, nil)
	before := w.ClientRow("mine").Profile
	edit := MinePath + "/edit"
	form := b.Get(edit).Form(t, edit)
	for name, list := range ProfileOf("A better name", before.RedirectURIs[0], before.Scopes...) {
		form[name] = list
	}
	b.Done(b.Post(edit, form))
	assert.NotNil(t, w.ClientRow("mine").Proposed)
	assert.Contains(t, b.Get(MinePath).Text, "Changes in review")

	discard := b.Get(scopesPath).Form(t, discardPath)
	page := b.Follow(b.Post(discardPath, discard))
	assert.Contains(t, page.Text, "The changes were discarded. The application works as before.")
	w.Must(&ledger.RevokeSecret{Actor: Operator, Client: "mine", Secret: w.ClientRow("mine").Secrets[0].ID})
	assert.Equal(t, scopesPath+"?done=discarded", LeadsTo(b.Post(discardPath, discard)), "the same form twice")
	assert.Nil(t, w.ClientRow("mine").Proposed)
	assert.Equal(t, before, w.ClientRow("mine").Profile)
	assert.NotContains(t, page.Text, "Changes in review")
}

// TestDiscardIsTooLate verifies that nothing is said to be discarded if the waiting changes ended
// otherwise, and that the page says why although it has no form to discard anything any more.
func TestDiscardIsTooLate(t *testing.T) {
	for name, end := range map[string]func(*Env, *Browser){
		"approved": func(w *Env, _ *Browser) {
			w.Must(&ledger.ReviewClient{Actor: Operator, ID: "mine", Verdict: ledger.Approve, Revision: w.ClientRow("mine").Revision})
		},
		"edited by an operator": func(w *Env, _ *Browser) {
			p := w.ClientRow("mine").Profile
			w.Must(&ledger.EditClient{Actor: Operator, ID: "mine", Revision: w.ClientRow("mine").Revision, Profile: p})
		},
		"approved after another discard": func(w *Env, b *Browser) {
			b.Done(b.Submit(scopesPath, discardPath))
			w.ProposeRevision("mine", func(p *ledger.Profile) { p.Name = "Best" })
			w.Must(&ledger.ReviewClient{Actor: Operator, ID: "mine", Verdict: ledger.Approve, Revision: w.ClientRow("mine").Revision})
		},
		"narrowed": func(w *Env, _ *Browser) {
			w.ProposeRevision("mine", func(p *ledger.Profile) { p.Scopes = p.Scopes[:1] })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := Mine(t, nil)
			w.ProposeRevision("mine", func(p *ledger.Profile) { p.Name = "Better" })
			form := b.Get(scopesPath).Form(t, discardPath)
			end(w, b)
			before, state := w.ClientRow("mine"), w.Index
			res := b.Post(discardPath, form)
			assert.Equal(t, http.StatusConflict, res.StatusCode)
			assert.Contains(t, res.Text, site.NoticeMoved)
			assert.NotContains(t, res.Text, discardPath)
			assert.Equal(t, before, w.ClientRow("mine"))
			assert.Equal(t, state, w.Index)
		})
	}
}

// TestGoOnFromRefusedChanges verifies that the edit form starts from the refused revision
// if requested, including its logo, also after a validation error.
func TestGoOnFromRefusedChanges(t *testing.T) {
	w, b := turnedDown(t)
	edit := MinePath + "/edit"
	plain := b.Get(edit)
	assert.Contains(t, plain.Text, `value="The mine app"`)
	assert.Contains(t, plain.Text, `href="/developer/clients/mine/edit?from=refused">Start from them</a>`)
	assert.NotContains(t, plain.Text, "A better name")

	page := b.Get(edit + "?from=refused")
	for _, text := range []string{
		`value="A better name"`, `value="` + Callback + `/new"`, `value="PROFILE_READ" checked`, `src="/logos/`,
		"<b>Your changes were rejected:</b> <bdi>Not that &lt;name&gt;.</bdi>",
	} {
		assert.Contains(t, page.Text, text)
	}
	form := page.Form(t, edit)
	for name, list := range ProfileOf("", Callback, "BOOKING_READ", "BOOKING_WRITE", "TEAM_BOOKING_READ", "ORG_PROFILE_READ", "PROFILE_READ") {
		form[name] = list
	}
	wrong := b.Post(edit, form)
	assert.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode)
	assert.Contains(t, wrong.Text, "Your changes were rejected")
	form = With(form, "name", "A good name", "token", wrong.Form(t, edit).Get("token"))
	assert.Contains(t, b.Done(b.Post(edit, form)).Text, "sent for review")
	now := w.ClientRow("mine")
	assert.Nil(t, now.Refused)
	assert.Equal(t, "A good name", now.Proposed.Name)
	assert.Equal(t, DigestOf(Photo(64, 64)), now.Proposed.Logo, "the refused logo must be proposed again")
	page = b.Get(scopesPath)
	assert.NotContains(t, page.Text, "Changes that were rejected")
	assert.Contains(t, b.Get(edit+"?from=refused").Text, `value="A good name"`, "there is no refused revision any more")
}

// TestAnotherEditForgetsRefusedChanges verifies that an edit that starts from the current
// profile contains none of the refused changes.
func TestAnotherEditForgetsRefusedChanges(t *testing.T) {
	w, b := turnedDown(t)
	edit := MinePath + "/edit"
	form := b.Get(edit).Form(t, edit)
	for name, list := range ProfileOf("Another name", Callback, "BOOKING_READ", "BOOKING_WRITE", "TEAM_BOOKING_READ", "ORG_PROFILE_READ") {
		form[name] = list
	}
	b.Done(b.Post(edit, form))
	assert.Nil(t, w.ClientRow("mine").Refused)
	assert.Empty(t, w.ClientRow("mine").Proposed.Logo)
}

func TestLetRefusedChangesGo(t *testing.T) {
	w, b := Mine(t, nil)
	behind := w.Memory.View()
	renamed := w.ClientRow("mine").Profile
	renamed.Name = "Its name now"
	w.Must(&ledger.EditClient{Actor: Operator, ID: "mine", Revision: 1, Profile: renamed})
	w.ProposeRevision("mine", func(p *ledger.Profile) { p.Name = "Better" })
	w.Refuse("mine", "Not that.")
	form := b.Get(scopesPath).Form(t, discardPath)
	before := w.ClientRow("mine").Profile
	w.Lagging = behind // this node doesn't know the new name yet
	res := b.Post(discardPath, form)
	w.Lagging = nil
	after := b.Done(res)
	assert.Contains(t, after.Text, "The rejected changes were dismissed.")
	after = b.Get(scopesPath)
	for _, text := range []string{"Changes that were rejected", "Not that", "wait for review"} {
		assert.NotContains(t, after.Text, text)
	}
	assert.Equal(t, before, w.ClientRow("mine").Profile)
	state := w.Index
	assert.Equal(t, scopesPath+"?done=refused-discarded", LeadsTo(b.Post(discardPath, form)), "the same form twice")
	assert.Equal(t, state, w.Index)
}

// TestLetNothingElseGo verifies that a form from before another refusal doesn't discard
// the later one.
func TestLetNothingElseGo(t *testing.T) {
	w, b := turnedDown(t)
	form := b.Get(scopesPath).Form(t, discardPath)
	w.ProposeRevision("mine", func(p *ledger.Profile) { p.Name = "Third" })
	res := b.Post(discardPath, form)
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Contains(t, res.Text, "Something changed while the page was open")
	assert.Equal(t, "Third", w.ClientRow("mine").Proposed.Name, "the proposed revision must stay pending")
	w.Refuse("mine", "Nor that.")
	res = b.Post(discardPath, form)
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Contains(t, res.Text, "Nor that.")
	assert.Equal(t, "Third", w.ClientRow("mine").Refused.Profile.Name)
	b.Done(b.Post(discardPath, res.Form(t, discardPath)))
	assert.Nil(t, w.ClientRow("mine").Refused)
}

// TestWaitingChanges verifies that a change is not hidden among what stays as it is.
func TestWaitingChanges(t *testing.T) {
	w, b := Mine(t, func(c *ledger.ImportClient) {
		c.Profile.Scopes = []string{"EVENT_TYPE_READ", "EVENT_TYPE_WRITE", "BOOKING_READ", "BOOKING_WRITE", "SCHEDULE_READ"}
	})
	w.ProposeRevision("mine", func(p *ledger.Profile) { p.Scopes = append(slices.Clone(p.Scopes), "PROFILE_READ") })
	page := b.Get(scopesPath).Text
	assert.Contains(t, page, "<ins><b>Adds:</b> PROFILE_READ</ins>")
	assert.Contains(t, page, `<li class="kept">5 stay as they are</li>`)
}
