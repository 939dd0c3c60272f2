package account_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestNothingNeedsAttention verifies the page of a user who has nothing to do.
func TestNothingNeedsAttention(t *testing.T) {
	w := NewEnv(t)
	w.User("u-bob", "bob", "Bob")
	b := w.SignedInAs("bob")
	home := b.Get("/")
	for _, text := range []string{
		"<title>Needs your attention · Mintmark</title>", "<h1><bdi>Needs your attention</bdi></h1>", "You’re all caught up",
		`<a class="skip" href="#main">`, `<main id="main"`, `<nav class="side" aria-label="Main">`, `<a href="/account"><bdi>Bob</bdi></a>`, `data-key="`,
		`<a class="button" href="/developer/new">`, `<a class="button" href="/connected-apps">`,
	} {
		assert.Contains(t, home.Text, text)
	}
	assert.NotContains(t, home.Text, "Administer")
	assert.NotContains(t, home.Text, `class="count`)

	w.Client("own", func(c *ledger.ImportClient) {
		c.Owner = "u-bob"
		c.Type = ledger.Public
		c.Profile.RedirectURIs = []string{"http://127.0.0.1/cb"}
	})
	assert.Contains(t, b.Get("/").Text, `<a class="button" href="/developer">`, "an owner")
}

// actor is the session of a browser as the actor of a command.
func actor(b *Browser) ledger.Actor {
	return ledger.Actor{Session: credential.SessionDigest(b.Session())}
}

// needy returns an env in which ada has one of each that needs her, and the administrator root.
func needy(t *testing.T) (w *Env, b, root *Browser) {
	w, root = Administration(t)
	b = w.SignedIn()
	own := func(id string, change func(*ledger.ImportClient)) {
		w.Client(id, func(c *ledger.ImportClient) {
			secret := w.Secret("sekret-" + id)
			c.Secrets = []ledger.NewSecret{secret}
			if change != nil {
				change(c)
			}
		})
	}
	judge := func(id string, verdict ledger.Verdict, reason string) {
		w.Must(&ledger.ReviewClient{Actor: actor(root), ID: id, Verdict: verdict, Reason: reason, Revision: w.ClientRow(id).Revision})
	}
	own("rejected", func(c *ledger.ImportClient) { c.State = ledger.Pending })
	judge("rejected", ledger.Reject, "The purpose doesn’t say <what> it is for. "+strings.Repeat("More words follow. ", 20))
	own("suspended", nil)
	judge("suspended", ledger.Suspend, "It was too loud.")
	own("secretless", func(c *ledger.ImportClient) { c.Secrets = nil })
	own("changed", nil)
	w.ProposeRevision("changed", func(p *ledger.Profile) { p.Name = "A better name" })
	judge("changed", ledger.Reject, "Not that name.")
	own("legacy", func(c *ledger.ImportClient) { c.Legacy, c.Profile.Scopes = true, nil })
	own("older", func(c *ledger.ImportClient) { c.State = ledger.Pending; c.Owner = "u-root" })
	w.Advance(2 * time.Hour)
	own("newer", func(c *ledger.ImportClient) { c.State = ledger.Pending })
	own("offered", func(c *ledger.ImportClient) { c.Owner = "u-root" })
	w.Must(&ledger.OfferClient{Actor: actor(root), ID: "offered", Username: "ada"})
	w.Client("stopped", func(c *ledger.ImportClient) { c.Owner = "u-root" })
	b.Allow("client_id", "stopped")
	judge("stopped", ledger.Suspend, "Nobody may know why.")
	return w, b, root
}

// TestPublicClientNeedsNoSecret verifies that a public client whose changes were rejected is not said
// to lack a secret.
func TestPublicClientNeedsNoSecret(t *testing.T) {
	w, root := Administration(t)
	w.Client("pocket", func(c *ledger.ImportClient) { c.Type, c.Secrets = ledger.Public, nil })
	w.ProposeRevision("pocket", func(p *ledger.Profile) { p.Name = "A better name" })
	w.Must(&ledger.ReviewClient{Actor: actor(root), ID: "pocket", Verdict: ledger.Reject, Reason: "Not that name.", Revision: w.ClientRow("pocket").Revision})
	page := w.SignedIn().Get("/")
	assert.Contains(t, page.Text, `<bdi>The pocket app</bdi></a> <span class="pill warn">Changes rejected</span>`)
	assert.Equal(t, 1, strings.Count(page.Text, "<bdi>The pocket app</bdi>"), "its only entry")
}

// TestNeedsAttention verifies the entry of each kind, and the counts of the navigation.
func TestNeedsAttention(t *testing.T) {
	w, b, root := needy(t)
	page := b.Get("/")
	entry := func(title string) string {
		t.Helper()
		for _, li := range strings.Split(page.Text, "<li>") {
			if strings.Contains(li, "<h2>") && strings.Contains(li, "<bdi>"+title+"</bdi>") {
				return li
			}
		}
		require.Fail(t, "no entry", title)
		return ""
	}
	for title, texts := range map[string][]string{
		"The rejected app": {
			`class="pill warn"`, "“<bdi>The purpose doesn’t say &lt;what&gt; it is for.", "…</bdi>”", "Rejected <time", `href="/developer/clients/rejected/edit"`,
		},
		"The suspended app":  {"“<bdi>It was too loud.</bdi>”", "until an administrator resumes it", `href="/developer/clients/suspended"`},
		"The secretless app": {"No secret", `href="/developer/clients/secretless/secrets"`, "Generate a secret"},
		"The changed app":    {"Changes rejected", "“<bdi>Not that name.</bdi>”", `href="/developer/clients/changed/edit?from=refused"`},
		"The offered app":    {"Offered to you", "Root (root) asks you to take over this application.", `href="/developer/offers/offered"`},
		"The newer app":      {`<span class="pill info">Waiting for review</span>`, "Number 3 of 3 in the queue.", "Submitted <time"},
		"The legacy app":     {"Legacy", `href="/developer/clients/legacy/migration"`},
		"The stopped app":    {"Suspended", "It can’t use your account for now.", `href="/connected-apps/stopped"`},
	} {
		for _, text := range texts {
			assert.Contains(t, entry(title), text, title)
		}
	}
	assert.Less(t, len(entry("The rejected app")), 1000, "only the beginning of the reason")
	assert.NotContains(t, page.Text, "Nobody may know why.", "a reason is for the owner")
	needs, informs, _ := strings.Cut(page.Text, "For your information")
	assert.Equal(t, 8, strings.Count(needs, "<li><div class=\"named\">"))
	assert.Equal(t, 5, strings.Count(informs, "<li><div class=\"named\">"))
	assert.Equal(t, 1, strings.Count(page.Text, `class="button primary`), "one primary action")
	assert.Contains(t, page.Text, `<b class="count warn"><span class="unseen">, </span>8<span class="unseen"> to look at</span></b>`)
	assert.NotContains(t, page.Text, "are waiting for review")

	page = root.Get("/")
	reviews := page.Text
	assert.Contains(t, reviews, "3 applications are waiting for review", "waiting, older and newer")
	assert.Contains(t, reviews, `<a class="button primary small" href="/admin">`)
	assert.Contains(t, entry("The older app"), "Number 1 of 3 in the queue.")

	// Those of other people are not listed.
	w.User("u-bob", "bob", "Bob")
	assert.Contains(t, w.SignedInAs("bob").Get("/").Text, "You’re all caught up")
}

// TestSecretThatEnds verifies that an owner learns of an end that is near.
func TestSecretThatEnds(t *testing.T) {
	w, b := Mine(t, nil)
	first := w.ClientRow("mine").Secrets[0].ID
	ends := 8 * 24 * time.Hour
	w.Must(&ledger.SetSecret{Actor: actor(b), Client: "mine", Secret: first, EndsIn: &ends})
	page := b.Get("/").Text
	assert.NotContains(t, page, "Secret ends")
	assert.Contains(t, page, `4<span class="unseen"> to look at</span>`)
	w.Advance(25 * time.Hour)
	page = w.SignedIn().Get("/").Text
	assert.Contains(t, page, "Secret ends")
	assert.Contains(t, page, `5<span class="unseen"> to look at</span>`)
	assert.Contains(t, page, " ends in 6 days. Whatever still uses it is refused from then on.")
}

// TestTwoReasonsOfAnApplication verifies that the count is that of the entries, not of applications.
func TestTwoReasonsOfAnApplication(t *testing.T) {
	w, root := Administration(t)
	w.Client("twice", nil)
	w.ProposeRevision("twice", func(p *ledger.Profile) { p.Name = "A better name" })
	w.Must(&ledger.ReviewClient{Actor: actor(root), ID: "twice", Verdict: ledger.Reject, Reason: "Not that name.", Revision: w.ClientRow("twice").Revision})
	page := w.SignedIn().Get("/").Text
	assert.Equal(t, 2, strings.Count(page, "<h2><a href=\"/developer/clients/twice\">"))
	needs, _, _ := strings.Cut(page, "For your information")
	assert.Contains(t, page, fmt.Sprintf(`%d<span class="unseen"> to look at</span>`, strings.Count(needs, "<h2><a ")))
}

// TestManyNeedAttention verifies that the page and the counts stay small.
func TestManyNeedAttention(t *testing.T) {
	w := NewEnv(t)
	for i := range 120 {
		w.Client(fmt.Sprint("c-", i), func(c *ledger.ImportClient) { c.Profile.Name = strings.Repeat("W", 40) + fmt.Sprint(i) })
	}
	page := w.SignedIn().Get("/")
	assert.Contains(t, page.Text, `>99&#43;<span class="unseen"> to look at</span>`)
	assert.Contains(t, page.Text, "There is more than fits here.")
	assert.Less(t, len(page.Text), 20_000)
}
