package web_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const discardPath = minePath + "/discard-refused"

// turnedDown returns an env with an approved application whose proposed revision was refused.
func turnedDown(t *testing.T) (*env, *browser) {
	t.Helper()
	w, b := mine(t, nil)
	edit := minePath + "/edit"
	form := b.get(edit).form(t, edit)
	for name, list := range profileOf("A better name", callback+"/new", "BOOKING_READ", "BOOKING_WRITE", "PROFILE_READ") {
		form[name] = list
	}
	form["redirect_uris"] = append(form["redirect_uris"], callback)
	b.done(b.postParts(edit, form, part{"logo", "me.jpg", string(photo(64, 64))}))
	w.refuse("mine", "Not that <name>.")
	return w, b
}

func (w *env) refuse(id, reason string) {
	w.t.Helper()
	w.must(&ledger.ReviewClient{Actor: operator, ID: id, Verdict: ledger.Reject, Reason: reason, Revision: w.clientRow(id).Revision})
}

// TestRefusedChanges verifies that a refused revision is shown with its reason, its time
// and all changes.
func TestRefusedChanges(t *testing.T) {
	w, b := turnedDown(t)
	page := b.get(minePath)
	for _, text := range []string{
		"Changes that were refused", `<time datetime="` + w.clock().UTC().Format("2006-01-02T15:04Z") + `" data-exact>`,
		"<b>Why:</b> <bdi>Not that &lt;name&gt;.</bdi>", "<del><b>Before:</b> <bdi>The mine app</bdi></del>",
		"<ins><b>After:</b> <bdi>A better name</bdi></ins>", "<ins><b>Added:</b> " + callback + "/new</ins>", "<ins><b>Added:</b> PROFILE_READ</ins>",
		`<a class="button primary" href="/developer/clients/mine/edit?from=refused">Edit and resubmit</a>`, "Dismiss",
	} {
		assert.Contains(t, page.body, text)
	}
	assert.NotContains(t, page.body, "What the last reviewer wrote", "the reason must be shown once")
	assert.Contains(t, b.get("/developer").body, `<span class="pill warn">Changes refused</span>`)

	w.must(&ledger.ReviewClient{Actor: operator, ID: "mine", Verdict: ledger.Suspend, Reason: "It sends spam.", Revision: w.clientRow("mine").Revision})
	page = b.get(minePath)
	assert.Contains(t, page.body, "<b>Why it was suspended:</b> <bdi>It sends spam.</bdi>")
	assert.Contains(t, page.body, "<b>Why:</b> <bdi>Not that &lt;name&gt;.</bdi>")
}

// TestGoOnFromRefusedChanges verifies that the edit form starts from the refused revision
// if requested, including its logo, also after a validation error.
func TestGoOnFromRefusedChanges(t *testing.T) {
	w, b := turnedDown(t)
	edit := minePath + "/edit"
	plain := b.get(edit)
	assert.Contains(t, plain.body, `value="The mine app"`)
	assert.Contains(t, plain.body, `<a href="/developer/clients/mine/edit?from=refused">Start from them</a>`)
	assert.NotContains(t, plain.body, "A better name")

	page := b.get(edit + "?from=refused")
	for _, text := range []string{
		`value="A better name"`, `value="` + callback + `/new"`, `value="PROFILE_READ" checked`, `src="/logos/`,
		"<b>Why they were refused:</b> <bdi>Not that &lt;name&gt;.</bdi>",
	} {
		assert.Contains(t, page.body, text)
	}
	form := page.form(t, edit)
	for name, list := range profileOf("", callback, "BOOKING_READ", "BOOKING_WRITE", "PROFILE_READ") {
		form[name] = list
	}
	wrong := b.post(edit, form)
	assert.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode)
	assert.Contains(t, wrong.body, "Why they were refused")
	form = with(form, "name", "A good name", "token", wrong.form(t, edit).Get("token"))
	assert.Contains(t, b.done(b.post(edit, form)).body, "waits for an administrator")
	now := w.clientRow("mine")
	assert.Nil(t, now.Refused)
	assert.Equal(t, "A good name", now.Proposed.Name)
	assert.Equal(t, digestOf(photo(64, 64)), now.Proposed.Logo, "the refused logo must be proposed again")
	page = b.get(minePath)
	assert.NotContains(t, page.body, "Changes that were refused")
	assert.Contains(t, b.get(edit+"?from=refused").body, `value="A good name"`, "there is no refused revision any more")
}

// TestAnotherEditForgetsRefusedChanges verifies that an edit that starts from the current
// profile contains none of the refused changes.
func TestAnotherEditForgetsRefusedChanges(t *testing.T) {
	w, b := turnedDown(t)
	edit := minePath + "/edit"
	form := b.get(edit).form(t, edit)
	for name, list := range profileOf("Another name", callback, "BOOKING_READ", "BOOKING_WRITE") {
		form[name] = list
	}
	b.done(b.post(edit, form))
	assert.Nil(t, w.clientRow("mine").Refused)
	assert.Empty(t, w.clientRow("mine").Proposed.Logo)
}

func TestLetRefusedChangesGo(t *testing.T) {
	w, b := mine(t, nil)
	behind := w.memory.View()
	renamed := w.clientRow("mine").Profile
	renamed.Name = "Its name now"
	w.must(&ledger.EditClient{Actor: operator, ID: "mine", Revision: 1, Profile: renamed})
	w.propose("mine", func(p *ledger.Profile) { p.Name = "Better" })
	w.refuse("mine", "Not that.")
	form := b.get(minePath).form(t, discardPath)
	before := w.clientRow("mine").Profile
	w.lagging = behind // this node doesn't know the new name yet
	res := b.post(discardPath, form)
	w.lagging = nil
	after := b.done(res)
	assert.Contains(t, after.body, "The refused changes are gone.")
	after = b.get(minePath)
	for _, text := range []string{"Changes that were refused", "Not that", "wait for review"} {
		assert.NotContains(t, after.body, text)
	}
	assert.Equal(t, before, w.clientRow("mine").Profile)
	state := w.index
	assert.Equal(t, minePath+"?done=refused-discarded", leadsTo(b.post(discardPath, form)), "the same form twice")
	assert.Equal(t, state, w.index)
}

// TestLetNothingElseGo verifies that a form from before another refusal doesn't discard
// the later one.
func TestLetNothingElseGo(t *testing.T) {
	w, b := turnedDown(t)
	form := b.get(minePath).form(t, discardPath)
	w.propose("mine", func(p *ledger.Profile) { p.Name = "Third" })
	res := b.post(discardPath, form)
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Contains(t, res.body, "Something changed while the page was open")
	assert.Equal(t, "Third", w.clientRow("mine").Proposed.Name, "the proposed revision must stay pending")
	w.refuse("mine", "Nor that.")
	res = b.post(discardPath, form)
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Contains(t, res.body, "Nor that.")
	assert.Equal(t, "Third", w.clientRow("mine").Refused.Profile.Name)
	b.done(b.post(discardPath, res.form(t, discardPath)))
	assert.Nil(t, w.clientRow("mine").Refused)
}
