package parts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// toldView has what the events of the tests are about.
func toldView(t *testing.T) ledger.View {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: ledger.Tables()})
	require.NoError(t, err)
	txn := db.Txn(true)
	for _, u := range []*ledger.User{{ID: "u-ada", Username: "ada", Person: ledger.Person{Name: "Ada Lovelace"}}, {ID: "u-bob", Username: "bob"}, {ID: "u-root", Username: "root", Admin: true}} {
		require.NoError(t, txn.Insert(ledger.TableUsers, u))
	}
	require.NoError(t, txn.Insert(ledger.TableClients, &ledger.Client{
		ID: "zeta", Owner: "u-ada", State: ledger.Approved, Profile: ledger.Profile{Name: "Zeta Planner"},
		Secrets: ledger.Secrets{{ID: "s_1", Tail: "KKT8", Name: "production"}, {ID: "s_2", Tail: "-two"}},
	}))
	require.NoError(t, txn.Insert(ledger.TableResourceServers, &ledger.ResourceServer{ID: "https://rooms.example", Name: "rooms"}))
	txn.Commit()
	return ledger.At(db.Txn(false))
}

// told has for each event what administrators read; on is what the owner reads on the page of
// the application, "" if it is never there.
var told = []struct {
	kind                ledger.EventKind
	actor, user, detail string
	says, by, note, on  string
}{
	{kind: ledger.EventClientCreated, actor: "u-ada", user: "u-ada", says: "Registered Zeta Planner", by: "ada", on: "You: Registered the application"},
	{kind: ledger.EventClientEdited, actor: "u-ada", user: "u-ada", detail: "name, website, redirect URIs; scopes BOOKING_READ", says: "Changed name, website and redirect URIs of Zeta Planner", by: "ada", on: "You: Changed name, website and redirect URIs"},
	{kind: ledger.EventClientEdited, actor: ledger.Operator, user: "u-ada", detail: "scopes; scopes (none)", says: "Changed scopes of Zeta Planner", by: "Operator", note: "Scopes: (none)", on: "An administrator: Changed scopes"},
	{kind: ledger.EventClientEdited, actor: "u-ada", user: "u-ada", detail: ledger.EditWithdrawn + "; scopes BOOKING_READ", says: "Withdrew the changes proposed for Zeta Planner", by: "ada"},
	{kind: ledger.EventClientEdited, actor: "u-ada", user: "u-ada", detail: ledger.EditResubmitted + "; scopes BOOKING_READ", says: "Submitted Zeta Planner again without changes", by: "ada"},
	{kind: ledger.EventClientEdited, actor: "u-ada", user: "u-ada", detail: ledger.EditDiscarded + "; scopes BOOKING_READ", says: "Dismissed the rejected changes of Zeta Planner", by: "ada", on: "You: Dismissed the rejected changes"},
	{kind: ledger.EventClientProposed, actor: "u-ada", user: "u-ada", detail: "redirect URIs, scopes; scopes A B", says: "Proposed to change redirect URIs and scopes of Zeta Planner", by: "ada", note: "Scopes: A B", on: "You: Proposed to change redirect URIs and scopes"},
	{kind: ledger.EventClientProposed, actor: "u-ada", user: "u-ada", detail: "redirect URIs, scopes; scopes A B C D E F", says: "Proposed to change redirect URIs and scopes of Zeta Planner", by: "ada", note: "6 scopes in all", on: "You: Proposed to change redirect URIs and scopes"},
	{kind: ledger.EventClientReviewed, actor: "u-root", user: "u-ada", detail: "approve", says: "Approved Zeta Planner", by: "root", on: "An administrator: Approved the application"},
	{kind: ledger.EventClientReviewed, actor: "u-root", user: "u-ada", detail: "approve changes: Fine.", says: "Approved the changes of Zeta Planner", by: "root", note: "Fine.", on: "An administrator: Approved the changes"},
	{kind: ledger.EventClientReviewed, actor: "u-root", user: "u-ada", detail: "reject: Why: this?", says: "Rejected Zeta Planner", by: "root", note: "Why: this?"},
	{kind: ledger.EventClientReviewed, actor: "u-root", user: "u-ada", detail: "reject changes: No.", says: "Rejected the changes of Zeta Planner", by: "root", note: "No."},
	{kind: ledger.EventClientReviewed, actor: "u-root", user: "u-ada", detail: "suspend: spam", says: "Suspended Zeta Planner", by: "root", note: "spam"},
	{kind: ledger.EventClientReviewed, actor: "u-root", user: "u-ada", detail: "resume", says: "Resumed Zeta Planner", by: "root"},
	{kind: ledger.EventClientDeleted, actor: "u-root", user: "u-ada", says: "Deleted Zeta Planner", by: "root"},
	{kind: ledger.EventClientOffered, actor: "u-ada", user: "u-bob", says: "Offered Zeta Planner to bob", by: "ada", on: "You: Offered the application to bob"},
	{kind: ledger.EventOfferEnded, actor: "u-bob", user: "u-bob", detail: "declined", says: "Declined the offer of Zeta Planner", by: "bob", on: "bob: Declined the offer of the application"},
	{kind: ledger.EventOfferEnded, actor: "u-ada", user: "u-bob", detail: "withdrawn", says: "Withdrew the offer of Zeta Planner to bob", by: "ada"},
	{kind: ledger.EventClientTransferred, actor: "u-root", user: "u-ada", detail: "u-bob", says: "Transferred Zeta Planner from bob to ada", by: "root", on: "An administrator: Transferred the application from bob to you"},
	{kind: ledger.EventClientTransferred, actor: "u-ada", user: "u-ada", detail: "u-bob, all secrets revoked", says: "Took over Zeta Planner from bob", by: "ada", note: "All secrets revoked"},
	{kind: ledger.EventClientImported, actor: ledger.Operator, user: "u-ada", says: "Imported Zeta Planner", by: "Operator", on: "An administrator: Imported the application"},
	{kind: ledger.EventClientApplied, actor: "token:ci", user: "u-ada", detail: "added; scopes A", says: "Added Zeta Planner by a file", by: "Operator (token:ci)", note: "Scopes A"},
	{kind: ledger.EventClientApplied, actor: ledger.Operator, user: "u-ada", detail: `name: "a" → "b"`, says: "Changed Zeta Planner by a file", by: "Operator", note: `name: "a" → "b"`},
	{kind: ledger.EventScopesSelected, actor: "u-ada", user: "u-ada", detail: "A B", says: "Migrated Zeta Planner to scopes", by: "ada", note: "A B"},
	{kind: ledger.EventSecretAdded, actor: "u-ada", user: "u-ada", detail: "s_1", says: "Generated secret ••••KKT8 (production) for Zeta Planner", by: "ada", on: "You: Generated secret ••••KKT8 (production)"},
	{kind: ledger.EventSecretAdded, actor: "u-ada", user: "u-ada", detail: `s_2 s_1 ends: "" → "2026-04-01"`, says: "Generated secret ••••-two for Zeta Planner", by: "ada", note: `s_1 ends: "" → "2026-04-01"`},
	{kind: ledger.EventSecretEdited, actor: "u-ada", user: "u-ada", detail: `s_2 name: "" → "staging"`, says: "Changed secret ••••-two of Zeta Planner", by: "ada", note: `name: "" → "staging"`, on: "You: Changed secret ••••-two"},
	{kind: ledger.EventSecretRevoked, actor: "u-ada", user: "u-ada", detail: "s_gone", says: "Revoked secret s_gone of Zeta Planner", by: "ada"},
	{kind: ledger.EventSecretRevoked, actor: ledger.Operator, user: "u-ada", detail: "s_1 at its end", says: "Revoked secret ••••KKT8 (production) of Zeta Planner on the date that was set", by: "Automatically", on: "Automatically: Revoked secret ••••KKT8 (production) on the date that was set"},
	{kind: ledger.EventAllowed, actor: "u-bob", user: "u-bob", detail: "BOOKING_READ", says: "Allowed Zeta Planner", by: "bob", note: "BOOKING_READ"},
	{kind: ledger.EventExchanged, actor: "zeta", user: "u-bob", says: "Got its first tokens for bob", by: "Zeta Planner"},
	{kind: ledger.EventRetried, actor: "zeta", user: "u-bob", says: "Repeated a refresh for bob", by: "Zeta Planner"},
	{kind: ledger.EventShared, actor: "zeta", user: "u-bob", says: "Used one sign-in of bob in two copies", by: "Zeta Planner"},
	{kind: ledger.EventReuse, actor: "zeta", user: "u-bob", detail: "the code was used before", says: "Used a credential of bob twice and lost its access", by: "Zeta Planner", note: "the code was used before"},
	{kind: ledger.EventFastForwarded, actor: "zeta", user: "u-bob", says: "Used a later refresh token for bob than the one due, after a restore", by: "Zeta Planner"},
	{kind: ledger.EventGrantRevoked, actor: "zeta", user: "u-bob", detail: "by its refresh token", says: "Gave back its access to bob", by: "Zeta Planner", note: "By its refresh token"},
	{kind: ledger.EventGrantRevoked, actor: "u-bob", user: "u-bob", says: "Ended access of Zeta Planner", by: "bob"},
	{kind: ledger.EventGrantRevoked, actor: ledger.Operator, user: "u-bob", says: "Ended access of Zeta Planner to bob", by: "Operator"},
	{kind: ledger.EventDisconnected, actor: "u-bob", user: "u-bob", says: "Disconnected Zeta Planner", by: "bob"},
	{kind: ledger.EventDisconnected, actor: ledger.Operator, user: "u-bob", says: "Disconnected Zeta Planner from bob", by: "Operator"},
	{kind: ledger.EventResourceAdded, actor: "u-root", detail: "https://rooms.example", says: "Registered resource server https://rooms.example", by: "root"},
	{kind: ledger.EventResourceEdited, actor: "u-root", detail: "https://rooms.example name: x", says: "Changed resource server https://rooms.example", by: "root", note: "name: x"},
	{kind: ledger.EventResourceApplied, actor: "u-root", detail: "https://rooms.example added", says: "Set resource server https://rooms.example by a file", by: "root", note: "added"},
	{kind: ledger.EventResourceRemoved, actor: "u-root", detail: "https://gone.example", says: "Removed resource server https://gone.example", by: "root"},
	{kind: ledger.EventResourceSecretAdded, actor: "u-root", detail: "https://rooms.example s_9", says: "Generated a secret for resource server https://rooms.example", by: "root", note: "s_9"},
	{kind: ledger.EventResourceSecretRevoked, actor: "u-root", detail: "https://rooms.example s_9", says: "Revoked a secret of resource server https://rooms.example", by: "root", note: "s_9"},
	{kind: ledger.EventPublisherAdded, actor: "u-root", detail: "claude.ai A B", says: "Approved publisher claude.ai", by: "root", note: "A B"},
	{kind: ledger.EventPublisherEdited, actor: "u-root", detail: "local scopes: +A", says: "Changed publisher programs on users’ computers", by: "root", note: "scopes: +A"},
	{kind: ledger.EventPublisherApplied, actor: ledger.Operator, detail: "claude.ai scopes: +A", says: "Set publisher claude.ai by a file", by: "Operator", note: "scopes: +A"},
	{kind: ledger.EventPublisherRequested, actor: "u-bob", detail: "https://claude.ai/x", says: "Asked for Zeta Planner by claude.ai", by: "bob"},
	{kind: ledger.EventPublisherRevoked, actor: "u-root", detail: "claude.ai", says: "Ended all access for publisher claude.ai", by: "root"},
	{kind: ledger.EventPublisherRejected, actor: "u-root", detail: "claude.ai Not needed.", says: "Rejected publisher claude.ai and ended its access", by: "root", note: "Not needed."},
	{kind: ledger.EventPublisherRemoved, actor: "u-root", detail: "claude.ai", says: "Removed publisher claude.ai and ended its access", by: "root"},
	{kind: ledger.EventDocumentAdded, actor: "u-bob", detail: "https://claude.ai/x", says: "Read the metadata document of Zeta Planner", by: "bob", note: "https://claude.ai/x"},
	{kind: ledger.EventDocumentChanged, actor: "u-bob", detail: "https://claude.ai/x", says: "Read a changed metadata document of Zeta Planner", by: "bob", note: "https://claude.ai/x"},
	{kind: ledger.EventUserAdded, actor: "u-root", user: "u-bob", detail: "as an administrator", says: "Added bob", by: "root", note: "As an administrator"},
	{kind: ledger.EventUserAdded, actor: "u-bob", user: "u-bob", detail: "by https://idp.example", says: "Signed in for the first time", by: "bob", note: "Through https://idp.example"},
	{kind: ledger.EventUserPut, actor: ledger.Operator, user: "u-bob", says: "Added bob", by: "Operator"},
	{kind: ledger.EventUserPut, actor: ledger.Operator, user: "u-bob", detail: "username, password", says: "Changed bob", by: "Operator", note: "Username, password"},
	{kind: ledger.EventUserEdited, actor: "u-root", user: "u-gone", says: "Edited the profile of u-gone", by: "root"},
	{kind: ledger.EventProfileEdited, actor: "zeta", user: "u-bob", detail: "avatar_url time_zone", says: "Edited the profile of bob", by: "Zeta Planner", note: "Picture, time zone"},
	{kind: ledger.EventUserState, actor: "u-root", user: "u-bob", detail: "enable", says: "Enabled the account of bob", by: "root"},
	{kind: ledger.EventUserState, actor: "u-root", user: "u-bob", detail: "disable", says: "Disabled the account of bob", by: "root"},
	{kind: ledger.EventUserState, actor: "u-root", user: "u-bob", detail: "delete", says: "Deleted the account of bob", by: "root"},
	{kind: ledger.EventUserState, actor: "u-root", user: "u-bob", detail: "promote", says: "Made bob an administrator", by: "root"},
	{kind: ledger.EventUserState, actor: "u-root", user: "u-bob", detail: "sign-out", says: "Signed bob out everywhere", by: "root"},
	{kind: ledger.EventUserState, actor: "u-bob", user: "u-bob", detail: "demote, by https://idp.example", says: "Withdrew the role of administrator from bob", by: "bob", note: "As https://idp.example says"},
	{kind: ledger.EventPasswordSet, actor: "u-bob", user: "u-bob", says: "Changed the own password", by: "bob"},
	{kind: ledger.EventPasswordSet, actor: "u-root", user: "u-bob", says: "Set a new password for bob", by: "root"},
	{kind: ledger.EventFeedSet, actor: "u-bob", user: "u-bob", detail: "replaced", says: "Made an address for the feed", by: "bob"},
	{kind: ledger.EventFeedSet, actor: "u-bob", user: "u-bob", detail: "removed", says: "Removed the address of the feed", by: "bob"},
	{kind: ledger.EventSignedIn, actor: "u-bob", user: "u-bob", detail: "by https://idp.example", says: "Signed in", by: "bob", note: "Through https://idp.example"},
	{kind: ledger.EventSignedOut, actor: "u-bob", user: "u-bob", says: "Signed out", by: "bob"},
	{kind: ledger.EventSignedOut, actor: ledger.Operator, user: "u-bob", says: "Signed out bob in one browser", by: "Operator"},
	{kind: ledger.EventConfigured, actor: ledger.Operator, detail: `audience: "a" → "b"`, says: "Changed settings", by: "Operator", note: `audience: "a" → "b"`},
	{kind: ledger.EventBranded, actor: "u-root", detail: "draft", says: "Saved a draft of the branding", by: "root"},
	{kind: ledger.EventBranded, actor: "u-root", detail: `publish service_name: "" → "Ask \"logo: desk"; accent: "default" → "#1d4ed8"`, says: "Published the branding", by: "root", note: `Name: "" → "Ask \"logo: desk"; Accent color: "default" → "#1d4ed8"`},
	{kind: ledger.EventBranded, actor: "u-root", detail: "discard", says: "Discarded the draft of the branding", by: "root"},
	{kind: ledger.EventKeyAdded, actor: ledger.Operator, detail: "k1", says: "Generated key k1", by: "Operator"},
	{kind: ledger.EventKeyActivated, actor: ledger.Operator, detail: "k1", says: "Activated key k1", by: "Operator"},
	{kind: ledger.EventKeyDropped, actor: ledger.Operator, detail: "k1", says: "Dropped key k1", by: "Operator"},
	{kind: ledger.EventKeyEmergency, actor: ledger.Operator, detail: "k1", says: "Dropped key k1 in an emergency", by: "Operator"},
	{kind: ledger.EventRewrapped, actor: ledger.Operator, detail: "ck2", says: "Wrapped the keys by cluster key ck2", by: "Operator"},
	{kind: ledger.EventNodeForgotten, actor: ledger.Operator, detail: "n1", says: "Removed node n1", by: "Operator"},
	{kind: ledger.EventRestored, actor: ledger.Operator, says: "Restored a backup", by: "Operator"},
	{kind: ledger.EventReplayed, actor: ledger.Operator, detail: "3 effects", says: "Replayed the journal", by: "Operator", note: "3 effects"},
	{kind: ledger.EventRecovered, actor: ledger.Operator, says: "Recovered the cluster from its only remaining node", by: "Operator"},
	{kind: ledger.EventFailures, actor: ledger.Operator, detail: "3 failed sign-ins", says: "Counted failures to authenticate within an hour", by: "Automatically", note: "3 failed sign-ins"},
	{kind: ledger.EventOperatorTokenAdded, actor: ledger.Operator, detail: "t_1 ci: users clients", says: "Generated operator token ci", by: "Operator", note: "users clients"},
	{kind: ledger.EventOperatorTokenRevoked, actor: ledger.Operator, detail: "t_1 ci", says: "Revoked operator token ci", by: "Operator"},
	{kind: ledger.EventOperation, actor: "token:ci", detail: "backup", says: "Ran an operation", by: "Operator (token:ci)", note: "backup"},
	{kind: "future.kind", actor: "u-root", detail: "more", says: "future.kind", by: "root", note: "more"},
}

func TestSentence(t *testing.T) {
	v := toldView(t)
	clock := ui.Clock{Now: time.UnixMilli(5_000_000)}
	seen := map[ledger.EventKind]bool{}
	for _, one := range told {
		seen[one.kind] = true
		e := &ledger.Event{Kind: one.kind, At: 1, Actor: one.actor, User: one.user, Client: "zeta", Detail: one.detail}
		got := parts.Sentence(v, e, clock, parts.Reader{Admin: true, Links: true})
		assert.Equal(t, one.says, got.Text())
		assert.Equal(t, one.by, got.By.Text, one.says)
		assert.Equal(t, one.note, got.Note, one.says)
		for _, p := range append(got.What, got.By) {
			if !p.Name {
				assert.Empty(t, p.Path, "%s: words have no link", one.says)
			}
		}
		if one.on != "" {
			owner := parts.Sentence(v, e, clock, parts.Reader{User: "u-ada", On: "zeta"})
			assert.Equal(t, one.on, owner.By.Text+": "+owner.Text())
		}
		for _, p := range parts.Sentence(v, e, clock, parts.Reader{User: "u-ada"}).What {
			assert.Empty(t, p.Path, "%s: the owner gets no links of administrators", one.says)
		}
	}
	titles := map[string]bool{}
	for _, title := range parts.EventTitles() {
		titles[title.Value] = title.Text != ""
	}
	for _, kind := range ledger.EventKinds {
		assert.True(t, seen[kind], "%s has no sentence here", kind)
		assert.True(t, titles[string(kind)], "%s has no title", kind)
	}
	assert.Len(t, titles, len(ledger.EventKinds))
}

// TestSentenceOfADetail verifies that the detail of an event is text, never words with names to
// replace.
func TestSentenceOfADetail(t *testing.T) {
	v := toldView(t)
	for _, kind := range ledger.EventKinds {
		e := &ledger.Event{Kind: kind, At: 1, Actor: "u-root", User: "u-bob", Client: "zeta", Detail: "{client}[{client} {client} [{"}
		assert.LessOrEqual(t, strings.Count(parts.Sentence(v, e, ui.Clock{}, parts.Reader{Admin: true}).Text(), "Zeta Planner"), 1, kind)
	}
}
