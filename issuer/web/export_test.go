package web

import (
	"maps"
	"net/url"
	"os"
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Carried and the others export internals without a page.
var (
	EscapeQuery = escapeQuery
	FormToken   = formToken
	Recently    = recently
	SignNotice  = signNotice
)

type Purpose = purpose

// OwnPage is ownPage.
func (w *Web) OwnPage(address string) string { return w.ownPage(address) }

// SpecimenPurpose is the purpose of the specimen's form.
const SpecimenPurpose purpose = "specimen"

var specimenForm = formKind{
	purpose: SpecimenPurpose, action: "/specimens/:id/edit", page: "/specimens/:id",
	fields: []field{
		boundField("revision"),
		textField("name", "Name"),
		textField("website", "Website"),
		textField("purpose", "Purpose"),
		secretField("secret", "Secret"),
		listField("redirect_uris", "Redirect URI"),
		listField("scopes", "The selection of scopes").chosen(),
		textField("type", "Type").chosen(),
		fileField("logo", "Logo", 1<<10),
	},
}

// AddSpecimens adds routes with features that few pages use: an address with a parameter,
// of an object with an owner; a form with every kind of field; and a page for administrators.
func (w *Web) AddSpecimens(took func(name string, uris, scopes []string, logo []byte)) {
	show := func(c *request, v session, f *form) error {
		own, err := w.confirmFresh(c, &v, func() bool {
			client := v.view.Client(c.param("id"))
			return client != nil && client.Owner == v.user.ID
		})
		switch {
		case err != nil:
			return err
		case !own:
			return errNotFound
		}
		if f == nil {
			f = v.form(&specimenForm, url.Values{
				"id": {c.param("id")}, "revision": {"3"}, "name": {"Calendar"}, "scopes": {"BOOKING_READ"},
				"redirect_uris": {"https://app.example.com/cb"},
			})
		}
		return w.show(c, v, "specimen", ui.Page{Title: "Specimen", Up: up("Specimens", "/specimens"), Form: f, Notice: notices{"saved": "It was saved."}.text(c), Body: f})
	}
	take := func(c *request, v session, f *form) error {
		uris := f.filled("redirect_uris")
		refusals := map[string]*ledger.Refusal{
			"":      {Cause: ledger.BadField, Field: "name", Note: "is empty"},
			"line":  {Cause: ledger.BadField, Field: "redirect_uris[1]", Note: "must be absolute"},
			"other": {Cause: ledger.BadField, Field: "owner", Note: "is not a user"},
			"third": {Cause: ledger.TooManySecrets},
			"moved": {Cause: ledger.Conflict},
		}
		if r := refusals[f.trimmed("name")]; r != nil {
			f.refused(r)
		}
		if f.get("website") == "bad" {
			f.addProblem("website", "must begin with https:// or http://")
		}
		if !f.Has("type", "confidential") && !f.Has("type", "public") {
			f.addProblem("type", "is not chosen")
		}
		if len(f.filled("scopes")) == 0 {
			f.addProblem("scopes", "needs at least one")
		}
		if f.Failed() {
			return show(c, v, f)
		}
		took(f.get("name"), uris, f.filled("scopes"), f.file("logo"))
		return c.redirectNotice("/specimens/"+f.get("id"), notices{"saved": "x"}, "saved")
	}
	specimens, err := ui.Parse(os.DirFS("testdata"), pageFuncs, "specimen.html")
	if err != nil {
		panic(err)
	}
	maps.Copy(w.pages, specimens)
	w.install(append(w.routes(),
		w.pageFor(users, "/specimens", func(c *request, v session) error { return errNotFound }),
		w.pageFor(users, "/specimens/:id", func(c *request, v session) error { return show(c, v, nil) }),
		w.formFor(users, &specimenForm, take),
		w.pageFor(administrators, "/administration", func(c *request, v session) error {
			return w.show(c, v, "account_home", ui.Page{Title: "Administration"})
		}),
	))
}

// RefusalsOf returns the causes that are recorded for a client.
func RefusalsOf(r *Refusals, client string) []ledger.Cause {
	var causes []ledger.Cause
	for _, one := range r.list(client) {
		causes = append(causes, one.Cause)
	}
	return causes
}

// QueuedHashes returns how many senders occupy the hash queue.
func QueuedHashes(w *Web) int { return len(w.hashQueue.slots) }

// RecordBrowser is recordBrowser.
func RecordBrowser(r *Refusals, client string, cause ledger.Cause, at ledger.Time) {
	r.recordBrowser(client, cause, "", at)
}

// RefusedClients returns the number of clients with recorded refusals at the token endpoint.
func RefusedClients(r *Refusals) int { return len(r.programs.byClient) }

// Walk occupies the counters like a long walk, until done is called.
func Walk(w *Web) (done func()) {
	w.counters.running <- struct{}{}
	return func() { <-w.counters.running }
}

// Counted reports whether the number of a client is known.
func Counted(w *Web, client string) bool {
	w.counters.mu.Lock()
	defer w.counters.mu.Unlock()
	one := w.counters.byName[client]
	return one != nil && one.known
}

// CountMany requests the numbers of many clients while no walk can start, and returns how many
// counters are kept.
func CountMany(w *Web, view ledger.View, clients int) int {
	defer Walk(w)()
	for i := range clients {
		w.counters.startCount(strconv.Itoa(i), 1, func() ledger.Connected { return view.Connected(strconv.Itoa(i), 1, maxCountedUsers) })
	}
	w.counters.mu.Lock()
	defer w.counters.mu.Unlock()
	return len(w.counters.byName)
}

// Forget makes every number be counted again.
func Forget(w *Web) {
	w.counters.mu.Lock()
	defer w.counters.mu.Unlock()
	clear(w.counters.byName)
}

// TruncateList shortens the list of a client's users.
func TruncateList(w *Web, client string, n int) {
	w.counters.mu.Lock()
	defer w.counters.mu.Unlock()
	one := w.counters.byName[client]
	one.value.Recent = one.value.Recent[:n]
}

// BrowserName is browserName.
var BrowserName = browserName

// SpendChanges uses up a user's limit of forms.
func SpendChanges(w *Web, user string) {
	for w.limits.changes.Take(user, w.config.Ledger.Now().Std()) == 0 {
	}
}

// SpendEndings is SpendChanges for the forms of a session that only end something.
func SpendEndings(w *Web, handle string) {
	for w.limits.endings.Take(handle, w.config.Ledger.Now().Std()) == 0 {
	}
}
