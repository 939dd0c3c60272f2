package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestReplayProperties restores a backup after a random history, and replays the journal.
// Everything that was revoked or removed in the history must then be revoked or removed,
// and everything else must exist.
func TestReplayProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newEnv(t)
		for _, line := range []string{
			"settings session_absolute=2000h session_idle=1000h", "user alice", "user bob",
			"import cal owner=bob secrets=s1 scopes=PROFILE_READ,BOOKING_READ uris=https://app.example/cb,https://app.example/2",
			"import old owner=bob secrets=o1 legacy",
			"settings agents=listed", "sign-in alice session=setup", "put-publisher agent.example scopes=PROFILE_READ,BOOKING_READ defaults=PROFILE_READ",
			"document https://agent.example/1 by=setup",
			"put-resource api secret=r1 scopes=PROFILE_READ,BOOKING_READ", "put-resource all secret=r1",
		} {
			w.run(line)
		}
		history := func(label string) {
			for range rapid.IntRange(0, 25).Draw(r, label) {
				w.now = w.now.Add(time.Second)
				for _, line := range w.event(r) {
					w.run(line)
				}
			}
		}
		history("before the backup")
		w.backup("b")
		history("after the backup")
		lost := w.view()

		// The second restore finds all records in the journal of the first.
		for range 2 {
			w.run("restore b")
			w.replay()
			sum := w.memory.Checksum()
			w.comparePeople(r, lost)
			w.compareClients(r, lost)
			w.compareResources(r, lost)
			w.comparePublishers(r, lost)
			require.Equal(r, keyringRows(lost), keyringRows(w.view()))
			w.replay()
			require.Equal(r, sum, w.memory.Checksum(), "a second replay changed the state")
		}
	})
}

// event returns a random event as a few lines of a scenario.
func (w *env) event(r *rapid.T) []string {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(r, label) }
	user, client, session := pick("user", "alice", "bob"), pick("client", "cal", "cal", "old"), pick("session", "1", "2")
	grant := fmt.Sprintf("g%d", rapid.IntRange(1, 6).Draw(r, "grant"))
	secret := map[string]string{"cal": "s", "old": "o"}[client] + pick("secret", "1", "2", "3")
	key := fmt.Sprintf("k%d", rapid.IntRange(1, 4).Draw(r, "key"))
	due := uint32(0)
	if g := w.view().Grant(id16(grant)); g != nil {
		due, client = g.Due, w.view().Client(g.Client).ClientID()
	}
	password := "hash"
	if u := w.view().User("u-" + user); u.Password != "" {
		password = u.Password
	}
	switch pick("event", "user", "password", "feed", "feed", "sign-in", "sign-in", "sign-out", "allow", "allow", "reuse", "refresh", "revoke", "disconnect",
		"add-secret", "set-secret", "revoke-secret", "import", "edit", "select", "owner edits", "review", "review", "rare", "keys", "keys",
		"transfer", "offer", "upstream", "upstream", "end-session", "resource", "resource", "publisher", "agent", "agent") {
	case "user":
		return []string{"user-state " + user + " to=" + pick("state", "disable", "enable", "enable", "promote", "demote")}
	case "password":
		return []string{"password " + user + " to=" + pick("password", "p1", "p2", "p3")}
	case "feed":
		return []string{"set-feed " + user + " by=" + user + session + pick("feed address", "", " to=f1", " to=f2", " to=f3")}
	case "sign-in":
		return []string{"sign-in " + user + " session=" + user + session + " password=" + password}
	case "sign-out":
		return []string{"sign-out " + user + session + pick("everywhere", "", " everywhere")}
	case "allow":
		scope := pick("scope", "", " scope=PROFILE_READ")
		return []string{
			"allow " + user + session + " user=" + user + " client=" + client + scope + " grant=" + grant,
			"exchange client=" + client + " secret=" + secret + " grant=" + grant,
		}
	case "reuse":
		return []string{"exchange client=" + client + " secret=" + secret + " grant=" + grant}
	case "refresh":
		return []string{fmt.Sprintf("refresh client=%s secret=%s grant=%s gen=%d", client, secret, grant, max(due, 1))}
	case "revoke":
		return []string{"revoke " + grant}
	case "disconnect":
		return []string{"disconnect " + user + pick("which", "", " client="+client)}
	case "add-secret":
		return []string{"add-secret " + client + " secret=" + secret + pick("old ends", "", " old-ends=1h", " old-ends=2h")}
	case "set-secret":
		return []string{"set-secret " + client + " secret=" + secret + " ends=" + pick("ends", "0s", "1h", "3h")}
	case "revoke-secret":
		return []string{"revoke-secret " + client + " secret=" + secret}
	case "import":
		return []string{"import cal owner=bob secrets=" + secret + pick("another", "", ",s1", ",s2") + " scopes=" + pick("scopes", "PROFILE_READ", "BOOKING_READ") +
			" state=" + pick("state", "approved", "approved", "pending", "suspended", "rejected")}
	case "edit":
		return []string{"edit cal uris=https://app.example/" + pick("uri", "cb", "2", "3,https://app.example/cb") + " scopes=" + pick("scopes", "PROFILE_READ", "BOOKING_READ", "BOOKING_READ,PROFILE_READ")}
	case "select":
		return []string{"edit old scopes=PROFILE_READ confirm"}
	case "owner edits":
		return []string{"edit cal by=bob" + session + " uris=https://app.example/" + pick("uri", "cb", "2", "3") + " scopes=" + pick("scopes", "PROFILE_READ", "BOOKING_READ", "BOOKING_READ,PROFILE_READ")}
	case "review":
		return []string{"review " + client + " verdict=" + pick("verdict", "approve", "approve", "reject", "suspend", "suspend", "resume", "resume") + " reason=because"}
	case "transfer":
		return []string{"transfer " + client + " to=" + user}
	case "offer":
		return []string{"offer " + client + " by=alice" + session + " to=bob", "offer " + client + " by=bob" + session + " to=alice", "accept " + client + " by=" + user + session}
	case "upstream":
		return []string{
			"upstream 7 session=" + session + pick("role", "", " admin"),
			"user-state 7 to=" + pick("to", "disable", "disable", "enable", "promote", "delete"),
		}
	case "resource":
		name, r := pick("resource", "api", "all"), pick("resource secret", "r1", "r2", "r3")
		return []string{pick("on resource", "add-resource-secret "+name+" secret="+r, "revoke-resource-secret "+name+" secret="+r,
			"put-resource "+name+" scopes="+pick("resource scopes", "PROFILE_READ", "BOOKING_READ", ""), "remove-resource "+name,
			"apply-resource "+name+" secrets="+r+" scopes="+pick("applied scopes", "PROFILE_READ", ""))}
	case "publisher":
		return []string{pick("on publisher",
			"put-publisher agent.example scopes="+pick("ceiling", "PROFILE_READ", "BOOKING_READ", "PROFILE_READ,BOOKING_READ")+pick("more", "", " long-retry", " clients=5"),
			"apply-publisher agent.example scopes=PROFILE_READ,BOOKING_READ"+pick("declared", "", " long-retry", " clients=5"),
			"put-publisher agent.example scopes=PROFILE_READ,BOOKING_READ defaults="+pick("defaults", "PROFILE_READ", "BOOKING_READ", "PROFILE_READ,BOOKING_READ"),
			"end-publisher agent.example how="+pick("how", "revoke", "reject", "remove"))}
	case "agent":
		const agent = "client=https://agent.example/1 uri=http://127.0.0.1/cb verifier=v grant="
		return []string{
			"allow " + user + session + " user=" + user + " scope=PROFILE_READ " + agent + grant,
			"exchange " + agent + grant,
			"document https://agent.example/1 by=" + user + session + " digest=" + pick("digest", "1", "2") + " uris=" + pick("uris", "http://127.0.0.1/cb", "https://agent.example/cb", "http://127.0.0.1/cb,https://agent.example/cb"),
			pick("later", "now +1s", "now +1s", "now +1h"),
		}
	case "end-session":
		return []string{"end-session " + user + session + " by=" + user + pick("browser", "1", "2")}
	case "rare":
		return []string{pick("end", "delete "+client, "user-state "+user+" to=delete", "now +1h", "now +1h", "now +1h", "now +1h")}
	}
	switch pick("step", "add", "add", "activate", "activate", "drop", "rewrap") {
	case "add":
		return []string{"add-key " + key + " purpose=signing under=" + w.view().SealedUnder()}
	case "activate":
		return []string{"acknowledge n1 keys=k1,k2,k3,k4 holds=A,B", "activate " + key + " voters=n1 emergency"}
	case "drop":
		return []string{"drop " + key + " emergency"}
	}
	line := "rewrap " + pick("cluster key", "A", "B") + " voters=n1 keys="
	for k := range w.view().Keys() {
		line += k.ID + ","
	}
	return []string{"acknowledge n1 keys=k1,k2,k3,k4 holds=A,B", line[:len(line)-1]}
}

func (w *env) comparePeople(r *rapid.T, lost ledger.View) {
	v := w.view()
	if was := lost.UserBySubject("https://idp.example", "7"); was != nil && (was.Disabled || was.Deleted) {
		now := v.UserBySubject("https://idp.example", "7")
		require.NotNil(r, now, "the row of a user who was disabled or deleted is missing")
		require.Equal(r, []bool{was.Disabled, was.Deleted}, []bool{now.Disabled, now.Deleted})
	}
	for u := range v.Users() {
		was := lost.User(u.ID)
		if was.Upstream != u.Upstream { // created after the backup; the new row only has the identity
			require.Equal(r, was.Disabled, u.Disabled, u.ID)
			require.Equal(r, was, lost.UserBySubject(was.Upstream, was.Subject))
			continue
		}
		require.Equal(r,
			[]any{was.Disabled, was.Deleted, was.Admin, was.Password, was.FeedDigest},
			[]any{u.Disabled, u.Deleted, u.Admin, u.Password, u.FeedDigest}, u.ID)
	}
	for s := range v.Sessions() {
		now, _ := v.SignedIn(s.ID, w.at())
		was, _ := lost.SignedIn(s.ID, w.at())
		require.False(r, now != nil && was == nil, "an ended session is live again")
	}
	for g := range v.Grants() {
		now, was := v.GrantEnded(g.ID), lost.GrantEnded(g.ID)
		switch {
		case was != ledger.NoCause:
			require.NotEqual(r, ledger.NoCause, now, "an ended grant is live again: %s", was)
		default:
			require.Equal(r, ledger.NoCause, now, "a live grant has ended")
		}
	}
}

func (w *env) compareClients(r *rapid.T, lost ledger.View) {
	for c := range w.view().Clients() {
		was := lost.Client(c.ID)
		require.Equal(r, was.State == ledger.Deleted, c.State == ledger.Deleted)
		if c.State == ledger.Deleted {
			continue
		}
		require.False(r, c.State == ledger.Approved && was.State != ledger.Approved, "%s was %s", c.ID, was.State)
		require.Equal(r, was.Legacy, c.Legacy)
		require.Equal(r, was.Owner, c.Owner)
		require.Subset(r, was.RedirectURIs, c.RedirectURIs)
		require.Subset(r, was.Scopes, c.Scopes)
		require.Equal(r, active(was), active(c), "the active secrets of %s", c.ID)
		for _, s := range c.Secrets {
			require.False(r, s.Active() && was.SecretOf(s.ID).Ends != s.Ends, "the end of %s of %s", s.ID, c.ID)
		}
	}
}

func active(c *ledger.Client) []string { return activeOf(c.Secrets) }

func activeOf(secrets ledger.Secrets) (ids []string) {
	for _, s := range secrets {
		if s.Active() {
			ids = append(ids, s.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// compareResources verifies that no resource server has a secret or a scope that it had
// lost in the history. If a resource server was removed and registered again, it does not
// exist. If it was never removed, it has all of its secrets.
func (w *env) compareResources(r *rapid.T, lost ledger.View) {
	for s := range w.view().ResourceServers() {
		was := lost.ResourceServer(s.ID)
		require.NotNil(r, was, "%s was removed", s.ID)
		require.Equal(r, activeOf(was.Secrets), activeOf(s.Secrets), "the active secrets of %s", s.ID)
	}
}

// comparePublishers verifies that each approved publisher was also approved in the
// history, with at least the same scopes.
func (w *env) comparePublishers(r *rapid.T, lost ledger.View) {
	for p := range w.view().Publishers() {
		was := lost.Publisher(p.Host)
		require.NotNil(r, was, "%s was removed", p.Host)
		if p.State == ledger.PublisherApproved {
			require.Equal(r, ledger.PublisherApproved, was.State)
			require.Subset(r, was.Scopes, p.Scopes)
			require.Subset(r, was.Defaults, p.Defaults)
			require.LessOrEqual(r, p.MaxClients, was.MaxClients)
			require.True(r, was.LongRetry || !p.LongRetry)
		}
	}
}

// keyringRows returns the fields of all keys that a replay must restore.
func keyringRows(v ledger.View) (rows []string) {
	for k := range v.Keys() {
		rows = append(rows, fmt.Sprint(k.ID, k.State, string(k.Sealed), k.SealedUnder, k.Announced, k.Activated, k.Retired))
	}
	return rows
}
