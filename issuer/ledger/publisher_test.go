package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestEndPublisherBounds: the number of clients of a publisher is limited, including
// deleted ones. So one command can end all their grants, and one Replay can repeat that.
func TestEndPublisherBounds(t *testing.T) {
	const full = "temporarily_unavailable: the publisher has as many clients as it may have"
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "sign-in alice", "settings agents=listed",
		"put-publisher local scopes=BOOKING_READ defaults=BOOKING_READ", "put-publisher agent.example scopes=BOOKING_READ defaults=BOOKING_READ clients=100",
	} {
		require.Equal(t, "ok", w.run(line), line)
	}
	allowed := 0
	allow := func(n int, uri string) string { // by another user after every tenth one
		id, user := fmt.Sprintf("mmd_%s%d", uri, n), fmt.Sprint("u", allowed/10)
		if allowed%10 == 0 {
			require.Equal(t, "ok", w.run("user "+user))
			require.Equal(t, "ok", w.run("sign-in "+user))
		}
		allowed++
		return w.run(fmt.Sprintf("allow %s client=%s registered=%s uri=%s verifier=v grant=%s revision=1", user, id, uri, uri, id))
	}
	const local, host = "http://127.0.0.1/cb", "https://agent.example/cb"
	for n := range 190 {
		require.Contains(t, allow(n, local), "issued", n)
	}
	require.Equal(t, full, allow(190, local))
	require.Contains(t, w.run("allow alice client=mmd_"+local+"0 registered="+local+" uri="+local+" verifier=v grant=again revision=1"), "issued", "it has a row")
	for n := range 90 {
		require.Contains(t, allow(n, host), "issued", n)
	}
	require.Equal(t, full, allow(90, host))
	require.Equal(t, "ok", w.run(fmt.Sprintf("delete mmd_%s0 revision=1", host)))
	require.Equal(t, full, allow(90, host))
	for n := range 100 {
		require.Equal(t, "ok", w.run(fmt.Sprintf("document https://agent.example/%d by=alice", n)))
	}
	require.Contains(t, w.run("document https://agent.example/100 by=alice"), "as many clients as it may have")

	w.backup("b")
	for _, name := range []string{ledger.LocalPublisher, "agent.example"} {
		for _, how := range []ledger.PublisherEnd{ledger.EndGrants, ledger.EndReject, ledger.EndRemove} {
			o, _ := w.do(&ledger.EndPublisher{Actor: ledger.Actor{Operator: true}, Host: name, How: how}, "", false)
			require.Equal(t, ledger.Outcome{ID: name, Count: 190}, o)
		}
	}
	for _, r := range w.journal {
		require.LessOrEqual(t, len(r.Effects), ledger.MaxReplay)
	}
	require.Equal(t, "ok", w.run("restore b"))
	require.NotContains(t, w.replay(), "invalid")
	require.Nil(t, w.view().Publisher("agent.example"))
	require.Nil(t, w.view().Publisher(ledger.LocalPublisher))
	for c := range w.view().ClientsOfPublisher(ledger.LocalPublisher) {
		require.NotZero(t, c.GrantsRevokedBefore, c.ID)
	}
}

// TestPublisherBounds verifies how many publishers there may be, and how many of them may wait for a
// review.
func TestPublisherBounds(t *testing.T) {
	const now = ledger.Time(1_800_000_000_000)
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Agents = "https://api.example.com", "https://app.example.com", ledger.AgentsReviewed
	for name, test := range map[string]struct {
		approved, pending int
		requested, listed bool // whether one more may be requested, or listed
	}{
		"one pending less":    {100, 49, true, true},
		"too many pending":    {100, 50, false, true},
		"one publisher less":  {999, 0, true, true},
		"too many publishers": {1000, 0, false, false},
	} {
		var publishers []*ledger.Publisher
		for n := range test.approved + test.pending {
			p := &ledger.Publisher{Host: fmt.Sprintf("p%d.example", n), State: ledger.PublisherApproved}
			if n < test.pending {
				p.State = ledger.PublisherPending
			}
			publishers = append(publishers, p)
		}
		v := viewOf(t,
			tableOf(ledger.TableSettings, []*ledger.Settings{&s}), tableOf(ledger.TablePublishers, publishers),
			tableOf(ledger.TableUsers, []*ledger.User{{ID: "u-1", Username: "alice"}}),
			tableOf(ledger.TableSessions, []*ledger.Session{{ID: sessionOf("s"), User: "u-1", CreatedSeq: 1, Created: now, Seen: now}}))
		operator, scopes := ledger.Actor{Operator: true}, []string{"PROFILE_READ"}
		for _, one := range []struct {
			c       command.Command
			allowed bool
		}{
			{&ledger.NoteDocument{
				Actor: ledger.Actor{Session: sessionOf("s")}, URL: "https://agent.example/client", Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/cb"},
			}, test.requested},
			{&ledger.PutPublisher{Actor: operator, Host: "agent.example", Scopes: scopes}, test.listed},
			{&ledger.ApplyPublisher{Actor: operator, Host: "agent.example", Scopes: scopes}, test.listed},
			{&ledger.PutPublisher{Actor: operator, Host: "p60.example", Scopes: scopes}, true},
			{&ledger.ApplyPublisher{Actor: operator, Host: "p60.example", Scopes: scopes}, true},
		} {
			o := v.Decide(one.c, command.Meta{ID: command.ID{1}, Seq: 9, At: int64(now)})
			require.Equal(t, one.allowed, o.Refusal == nil, "%s: %T", name, one.c)
			if !one.allowed {
				require.Equal(t, ledger.TooManyPublishers, o.Refusal.Cause, name)
			}
		}
	}
}

// TestPublisherFields verifies bounds of fields that a scenario can't write.
func TestPublisherFields(t *testing.T) {
	w := newEnv(t)
	var uris []string
	for n := range 51 {
		uris = append(uris, fmt.Sprintf("cursor://a/%d", n))
	}
	put := ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: ledger.LocalPublisher, Scopes: []string{"PROFILE_READ"}, RedirectURIs: uris[:50]}
	w.must(&put)
	put.RedirectURIs = uris
	require.Equal(t, "redirect_uris", w.refusal(&put).Field)
	put.RedirectURIs, put.MaxClients = nil, -1
	require.Equal(t, "max_clients", w.refusal(&put).Field)
	end := ledger.EndPublisher{Actor: put.Actor, Host: put.Host, How: ledger.EndReject, Reason: strings.Repeat("x", ledger.MaxReason+1)}
	require.Equal(t, "reason", w.refusal(&end).Field)
}

// TestEndPublisherRefuses: a publisher with more clients than the limit causes an error,
// and does not stop the nodes.
func TestEndPublisherRefuses(t *testing.T) {
	var clients []*ledger.Client
	for n := range 300 {
		url := fmt.Sprintf("https://agent.example/%d", n)
		clients = append(clients, &ledger.Client{ID: ledger.ClientKey(url), Owner: "publisher:agent.example", Document: &ledger.Document{ClientID: url}})
	}
	v := viewOf(t, tableOf(ledger.TableClients, clients), tableOf(ledger.TablePublishers, []*ledger.Publisher{{Host: "agent.example"}}))
	o := v.Decide(&ledger.EndPublisher{Actor: ledger.Actor{Operator: true}, Host: "agent.example", How: ledger.EndRemove}, command.Meta{ID: command.ID{1}, Seq: 9, At: 1_800_000_000_000})
	require.NotNil(t, o.Refusal)
	require.Equal(t, ledger.TooManyDocuments, o.Refusal.Cause)
}
