package ledger_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// checkRevocations compares the revocations of the trail with the grants: a reader of the
// feed must refuse exactly the tokens of ended grants.
func (w *env) checkRevocations(v ledger.View) {
	w.t.Helper()
	if v.Restore().Count > 0 {
		return // a restore loses the later part of the trail
	}
	all, _, _ := v.Revocations(0)
	for g := range v.Grants() {
		c := v.Client(g.Client)
		if c == nil {
			continue
		}
		ended := v.GrantEnded(g.ID) != ledger.NoCause || c.State == ledger.Suspended
		for _, iat := range w.issued[g.ID] {
			require.Equal(w.t, ended, revoked(all, g, c.ClientID(), iat), "a token of %s for %s, iat %d", g.User, g.Client, iat)
		}
	}
}

// revoked reports whether a token of g with an iat is revoked, by the rules for readers of
// the feed.
func revoked(all []ledger.Revocation, g *ledger.Grant, clientID string, iat int64) (is bool) {
	var client int64
	for _, r := range all {
		switch {
		case r.OfGrant():
			is = is || r.Grant == g.ID && r.At.Unix() >= iat
		case r.User == "" && r.Client == clientID:
			client = r.At.Unix()
			if r.Lifted {
				client = 0
			}
		default:
			is = is || r.User == g.User && (r.Client == "" || r.Client == clientID) && r.At.Unix() >= iat
		}
	}
	return is || client >= iat
}

// kindsInTheText returns the values of the constants of type EventKind in the source.
func kindsInTheText(t *testing.T) (all []ledger.EventKind) {
	file, err := parser.ParseFile(token.NewFileSet(), "audit.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "EventKind" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			all = append(all, ledger.EventKind(text))
		}
		return true
	})
	require.NotEmpty(t, all)
	return all
}

// TestRevocationsOfEveryKind lists for every kind of event which tokens it revokes. A new
// kind must be added here.
func TestRevocationsOfEveryKind(t *testing.T) {
	var (
		grant     = ledger.GrantID{1}
		scoped    = ledger.GrantID{2}
		legacy    = ledger.GrantID{3}
		later     = ledger.GrantID{4}
		elsewhere = ledger.GrantID{5}
	)
	v := viewOf(t,
		tableOf(ledger.TableClients, []*ledger.Client{
			{ID: "new", State: ledger.Suspended, Created: 1000},
			{ID: "stopped", State: ledger.Suspended, Created: 10},
			{ID: "going", State: ledger.Approved, Created: 10},
			{ID: "rejected", State: ledger.Rejected, Created: 10},
			{ID: "doc.1", Owner: "publisher:agent.example", GrantsRevokedBefore: 9, Document: &ledger.Document{ClientID: "https://agent.example/1"}},
			{ID: "doc.2", Owner: "publisher:agent.example", GrantsRevokedBefore: 8, Document: &ledger.Document{ClientID: "https://agent.example/2"}},
		}),
		tableOf(ledger.TableUsers, []*ledger.User{
			{ID: "u", Grants: []ledger.GrantID{scoped, legacy, later, elsewhere}, RevokedBeforeByClient: []ledger.RevokedBefore{{Client: "c", Legacy: 7}}},
			{ID: "other", Grants: []ledger.GrantID{grant}},
		}),
		tableOf(ledger.TableGrants, []*ledger.Grant{
			{ID: grant, Client: "c", User: "other", CreatedSeq: 3},
			{ID: scoped, Client: "c", User: "u", CreatedSeq: 7},
			{ID: legacy, Client: "c", User: "u", CreatedSeq: 5, Legacy: true},
			{ID: later, Client: "c", User: "u", CreatedSeq: 8, Legacy: true},
			{ID: elsewhere, Client: "d", User: "u", CreatedSeq: 5, Legacy: true},
		}))
	type list []ledger.Revocation
	nothing := []struct {
		event ledger.Event
		want  list
	}{{ledger.Event{Client: "c", User: "u", Grant: grant}, nil}}
	type row = struct {
		event ledger.Event
		want  list
	}
	tests := map[ledger.EventKind][]row{
		ledger.EventGrantRevoked: {{ledger.Event{Client: "c", User: "u", Grant: grant}, list{{Grant: grant}}}},
		ledger.EventReuse:        {{ledger.Event{Client: "c", User: "u", Grant: grant}, list{{Grant: grant}}}},
		ledger.EventDisconnected: {
			{ledger.Event{User: "u", Client: "c"}, list{{User: "u", Client: "c"}}},
			{ledger.Event{User: "u"}, list{{User: "u"}}},
		},
		ledger.EventUserState: {
			{ledger.Event{User: "u", Detail: "disable"}, list{{User: "u"}}},
			{ledger.Event{User: "u", Detail: "delete"}, list{{User: "u"}}},
			{ledger.Event{User: "u", Detail: "enable"}, nil},
			{ledger.Event{User: "u", Detail: "promote"}, nil},
			{ledger.Event{User: "u", Detail: "demote, by https://id.example.com"}, nil},
		},
		ledger.EventClientDeleted: {{ledger.Event{Client: "c", User: "u"}, list{{Client: "c"}}}},
		ledger.EventClientReviewed: {
			{ledger.Event{Client: "c", User: "u", Detail: "suspend: spam"}, list{{Client: "c"}}},
			{ledger.Event{Client: "c", User: "u", Detail: "suspend"}, list{{Client: "c"}}},
			{ledger.Event{Client: "c", User: "u", Detail: "resume"}, list{{Client: "c", Lifted: true}}},
			{ledger.Event{Client: "doc.1", Detail: "resume"}, list{{Client: "https://agent.example/1", Lifted: true}}},
			{ledger.Event{Client: "c", User: "u", Detail: "approve"}, nil},
			{ledger.Event{Client: "c", User: "u", Detail: "reject: suspend"}, nil},
		},
		ledger.EventClientImported: {
			{ledger.Event{Client: "new", User: "u"}, nil},
			{ledger.Event{Client: "stopped", User: "u"}, list{{Client: "stopped"}}},
			{ledger.Event{Client: "going", User: "u"}, list{{Client: "going", Lifted: true}}},
			{ledger.Event{Client: "rejected", User: "u"}, list{{Client: "rejected", Lifted: true}}},
		},
		ledger.EventClientApplied: {
			{ledger.Event{Client: "new", User: "u"}, nil},
			{ledger.Event{Client: "stopped", User: "u"}, list{{Client: "stopped"}}},
			{ledger.Event{Client: "going", User: "u"}, list{{Client: "going", Lifted: true}}},
		},
		ledger.EventExchanged: {
			{ledger.Event{Client: "c", User: "u", Grant: scoped}, list{{Grant: legacy}}},
			{ledger.Event{Client: "c", User: "u", Grant: legacy}, nil},
			{ledger.Event{Client: "c", User: "other", Grant: grant}, nil},
		},

		// These grant access, display something, or don't concern issued tokens.
		ledger.EventConfigured: nothing, ledger.EventBranded: nothing, ledger.EventUserPut: nothing, ledger.EventUserAdded: nothing,
		ledger.EventUserEdited: nothing, ledger.EventProfileEdited: nothing, ledger.EventPasswordSet: nothing, ledger.EventFeedSet: nothing, ledger.EventSignedIn: nothing,
		ledger.EventSignedOut: nothing, ledger.EventClientCreated: nothing, ledger.EventClientEdited: nothing,
		ledger.EventClientProposed: nothing, ledger.EventClientOffered: nothing, ledger.EventOfferEnded: nothing,
		ledger.EventClientTransferred: nothing, ledger.EventScopesSelected: nothing, ledger.EventSecretAdded: nothing,
		ledger.EventSecretEdited: nothing, ledger.EventSecretRevoked: nothing, ledger.EventAllowed: nothing, ledger.EventRetried: nothing, ledger.EventShared: nothing,
		ledger.EventFastForwarded: nothing, ledger.EventNodeForgotten: nothing, ledger.EventRewrapped: nothing,
		// Verifiers learn of keys through the key set.
		ledger.EventKeyAdded: nothing, ledger.EventKeyActivated: nothing, ledger.EventKeyDropped: nothing,
		ledger.EventKeyEmergency: nothing,
		// Readers of the feed start again.
		ledger.EventRestored: nothing, ledger.EventReplayed: nothing, ledger.EventRecovered: nothing,
		// Access doesn't change.
		ledger.EventFailures: nothing,

		// Resource servers read tokens; nobody's access changes.
		ledger.EventResourceAdded: nothing, ledger.EventResourceEdited: nothing, ledger.EventResourceRemoved: nothing,
		ledger.EventResourceApplied: nothing, ledger.EventResourceSecretAdded: nothing, ledger.EventResourceSecretRevoked: nothing,

		// A publisher that is changed keeps the grants of its clients.
		ledger.EventPublisherAdded: nothing, ledger.EventPublisherEdited: nothing, ledger.EventPublisherApplied: nothing, ledger.EventPublisherRequested: nothing,
		ledger.EventDocumentAdded: nothing, ledger.EventDocumentChanged: nothing,
		ledger.EventPublisherRevoked:  {{ledger.Event{Detail: "agent.example"}, list{{Client: "https://agent.example/1"}}}, {ledger.Event{Detail: "agent"}, nil}},
		ledger.EventPublisherRejected: {{ledger.Event{Detail: "agent.example why"}, list{{Client: "https://agent.example/1"}}}},
		ledger.EventPublisherRemoved:  {{ledger.Event{Detail: "agent.example"}, list{{Client: "https://agent.example/1"}}}},

		ledger.EventOperatorTokenAdded: nothing, ledger.EventOperatorTokenRevoked: nothing, ledger.EventOperation: nothing,
	}
	for _, kind := range kindsInTheText(t) {
		rows, ok := tests[kind]
		require.True(t, ok, "kind %s is missing from the table", kind)
		for _, row := range rows {
			e := row.event
			e.Kind, e.Seq, e.At, e.TokensRevokedBefore = kind, 9, 1000, 1500
			for i := range row.want {
				row.want[i].Seq, row.want[i].At = 9, 3000
				if row.want[i].User != "" {
					row.want[i].At = 1500
				}
			}
			assert.Equal(t, row.want, list(v.RevocationsOf(&e)), "%s %q", kind, e.Detail)
		}
	}
}

// TestRevocationsOfUnknownRows verifies that an event causes no revocation if its rows are
// not there any more, or if nothing was revoked.
func TestRevocationsOfUnknownRows(t *testing.T) {
	scoped, legacy := ledger.GrantID{1}, ledger.GrantID{2}
	grants := tableOf(ledger.TableGrants, []*ledger.Grant{
		{ID: scoped, Client: "c", User: "u", CreatedSeq: 7},
		{ID: legacy, Client: "c", User: "u", CreatedSeq: 5, Legacy: true},
	})
	user := func(revokedBefore uint64) table {
		return tableOf(ledger.TableUsers, []*ledger.User{{
			ID: "u", Grants: []ledger.GrantID{{9}, scoped, legacy}, RevokedBeforeByClient: []ledger.RevokedBefore{{Client: "c", Legacy: revokedBefore}},
		}})
	}
	exchanged := &ledger.Event{Kind: ledger.EventExchanged, Client: "c", User: "u", Grant: scoped}
	assert.Len(t, viewOf(t, grants, user(7)).RevocationsOf(exchanged), 1, "a swept grant in the list is skipped")
	assert.Empty(t, viewOf(t, grants, user(6)).RevocationsOf(exchanged), "the exchange ended no grant")
	assert.Empty(t, viewOf(t, grants).RevocationsOf(exchanged))
	assert.Empty(t, viewOf(t, user(7)).RevocationsOf(exchanged))
	assert.Empty(t, viewOf(t).RevocationsOf(&ledger.Event{Kind: ledger.EventClientImported, Client: "none"}))
}

// TestTimelinesOfTheFeed verifies what readers of the feed learn about timelines and replays.
func TestTimelinesOfTheFeed(t *testing.T) {
	w := newEnv(t)
	require.Zero(t, w.view().CurrentTimeline())
	require.Zero(t, w.view().FirstEventTime(ledger.Timeline{From: 1 << 40}))
	first := w.at()
	require.Equal(t, first, w.view().FirstEventTime(ledger.Timeline{From: 1}))
	w.must(&ledger.BeginTimeline{})
	require.Equal(t, uint64(1), w.view().CurrentTimeline().From)
	_, _, replayed := w.view().Revocations(0)
	require.Zero(t, replayed)
	w.run("now +1h")
	w.must(&ledger.BeginRestore{Backup: 1})
	require.Equal(t, uint64(2), w.view().CurrentTimeline().From)
	at := w.at()
	w.must(&ledger.Replay{Backup: 1, Records: []ledger.Record{{Seq: 2, At: 1}}})
	w.run("now +1h")
	w.run("user alice")
	_, last, replayed := w.view().Revocations(0)
	require.Equal(t, at, replayed)
	require.Equal(t, w.seq, last)
}
