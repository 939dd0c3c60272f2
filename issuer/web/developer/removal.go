package developer

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A removal is what an edit of an approved application ends at once, without a review.
type removal struct {
	Changes  []ui.Difference
	Names    []string        // of scopes and redirect URIs
	Reviewed []ui.Difference // the other changes of the edit
	Adds     bool            // Reviewed adds scopes or redirect URIs
}

func removalOf(client *ledger.Client, p ledger.Profile) (r removal) {
	narrowed := client.Narrowed(p)
	r.Changes = parts.Differences(&client.Profile, &narrowed)
	for i := range r.Changes {
		r.Names = append(r.Names, r.Changes[i].Removed...)
		r.Changes[i].Kept = nil
	}
	r.Reviewed = parts.Differences(&narrowed, &p)
	for i := range r.Reviewed {
		d := &r.Reviewed[i]
		parts.HideLogos(d)
		d.Kept, r.Adds = nil, r.Adds || len(d.Added) > 0
	}
	return r
}

type removalBody struct {
	removal
	Form   *site.Form
	Agreed string    // the value by which the user agrees
	People int       // number of connected users; 0 also if they are not counted yet
	Logo   *ui.Input // asks for the chosen picture again; nil if none was chosen
}

// askRemoval asks before an edit takes something away. The page has the whole edit, so that the
// user can confirm it or go back to it.
func (w *Area) askRemoval(c *site.Request, v site.Session, client *ledger.Client, f *site.Form, r removal) error {
	f.Values.Del("removed")
	people, _ := w.people(c, &v, client, w.Ledger.Now())
	body := removalBody{removal: r, Form: f, Agreed: strings.Join(r.Names, " "), People: people.Users}
	if f.File("logo") != nil {
		logo := f.Input("logo", "Choose it again: browsers don’t keep files.").Optional().Accepting("image/png,image/jpeg")
		body.Logo = &logo
	}
	return w.Show(c, v, "removal", ui.Page{Title: "Remove " + namesOrCount(r.Names) + " now?", Up: upTo(client), Form: f, Body: body})
}

// nameRemoved returns which names an edit removed, for removedNotice; "" for none.
func nameRemoved(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return namesOrCount(names) + " was removed"
	}
	return namesOrCount(names) + " were removed"
}

// removedNotice returns the notice after an edit, with a result of nameRemoved.
func removedNotice(done, removed string) string {
	text := "Saved. " + removed + " at once."
	if done == "proposed" {
		text += " The other changes were sent for review."
	}
	return text
}

// namesOrCount names scopes and redirect URIs, or counts them where the names are too long for a
// heading.
func namesOrCount(names []string) string {
	if text := strings.Join(names, " and "); len(names) <= 2 && len(text) <= 80 {
		return text
	}
	scopes := 0
	for _, name := range names {
		if parts.ScopeText(name) != "" {
			scopes++
		}
	}
	var counts []string
	if scopes > 0 {
		counts = append(counts, ui.Plural(scopes, "scope"))
	}
	if uris := len(names) - scopes; uris > 0 {
		counts = append(counts, ui.Plural(uris, "redirect URI"))
	}
	return strings.Join(counts, " and ")
}
