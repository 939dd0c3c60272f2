package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestSweepable verifies when the row of a grant may be removed: a day after the time since
// when none of its credentials is accepted any more.
func TestSweepable(t *testing.T) {
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		lines []string
		after time.Duration // the Allow
	}{
		"a code that nobody redeemed": {[]string{"now +1h"}, 5*time.Minute + day},
		"a code after a restore":      {[]string{"now +1h"}, 5*time.Minute + day},
		"a live grant":                {[]string{"exchange client=app secret=s grant=g", "now +719h", "refresh client=app secret=s grant=g gen=1", "now +719h"}, 719*time.Hour + 31*day},
		"idle":                        {[]string{"exchange client=app secret=s grant=g", "now +721h"}, 31 * day},
		"revoked":                     {[]string{"exchange client=app secret=s grant=g", "now +1h", "revoke g"}, time.Hour + day},
		"its client was deleted":      {[]string{"exchange client=app secret=s grant=g", "now +1h", "delete app revision=1"}, day},
		"its user was deleted":        {[]string{"exchange client=app secret=s grant=g", "now +1h", "user-state alice to=delete"}, day},
		"revoked before a backup":     {[]string{"revoke g", "backup b", "now +48h", "restore b"}, 48*time.Hour + day},
		"disconnected":                {[]string{"exchange client=app secret=s grant=g", "now +1h", "disconnect alice client=app"}, day},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			for _, line := range []string{"user alice", "sign-in alice", "import app owner=alice secrets=s scopes=PROFILE_READ"} {
				require.Equal(t, "ok", w.run(line), line)
			}
			if name == "a code after a restore" {
				w.must(&ledger.BeginRestore{})
			}
			w.run("allow alice client=app scope=PROFILE_READ grant=g")
			g := id16("g")
			created := w.view().Grant(g).Created
			for _, line := range test.lines {
				require.NotContains(t, w.run(line), "invalid", line)
			}
			sweepable := func(after time.Duration) bool {
				return w.view().Sweepable(w.view().Grant(g), created.Add(after))
			}
			require.False(t, sweepable(test.after-time.Millisecond))
			require.True(t, sweepable(test.after))
		})
	}
}

// TestSweepOfRevocations verifies that the revocation of a user's grants for a client is
// forgotten with the last of them, and no sooner.
func TestSweepOfRevocations(t *testing.T) {
	w := newEnv(t)
	clients := func() (names []string) {
		for _, r := range w.view().User("u-alice").RevokedBeforeByClient {
			names = append(names, r.Client)
		}
		return names
	}
	for _, line := range []string{
		"settings session_idle=5000h session_absolute=5000h", "user alice", "sign-in alice",
		"import app owner=alice secrets=s scopes=PROFILE_READ", "import web owner=alice secrets=s scopes=PROFILE_READ",
		"import old owner=alice secrets=s legacy",
		"allow alice client=app scope=PROFILE_READ grant=a1", "allow alice client=web scope=PROFILE_READ grant=w1",
		"allow alice client=old grant=o1", "exchange client=old secret=s grant=o1",
		"disconnect alice client=app", "disconnect alice client=web",
		"edit old scopes=PROFILE_READ confirm", "allow alice client=old scope=PROFILE_READ grant=o2", "exchange client=old secret=s grant=o2",
		"now +2h", "allow alice client=web scope=PROFILE_READ grant=w2", "disconnect alice client=web", "now +23h",
	} {
		require.NotContains(t, w.run(line), "invalid", line)
	}
	require.Equal(t, []string{"app", "old", "web"}, clients())
	require.Equal(t, "ok", w.run("sweep"))
	require.Equal(t, []string{"old", "web"}, clients())
	require.Contains(t, w.run("exchange client=web secret=s grant=w2"), "invalid_grant")
	require.Contains(t, w.run("refresh client=old secret=s grant=o1 gen=1"), "invalid_grant")
	w.run("now +2h")
	require.Equal(t, "ok", w.run("sweep"))
	require.Equal(t, []string{"old"}, clients(), "the grant with scopes is live")
	require.Contains(t, w.run("allow alice client=web scope=PROFILE_READ grant=w3"), "issued")
	require.Contains(t, w.run("exchange client=web secret=s grant=w3"), "issued")

	// The list of grants may have one whose row does not exist.
	g := &ledger.Grant{ID: id16("g"), Client: "app", User: "u", Ended: 1, EndCause: ledger.GrantEnded}
	v := viewOf(t, tableOf(ledger.TableGrants, []*ledger.Grant{g}),
		tableOf(ledger.TableUsers, []*ledger.User{{ID: "u", Grants: []ledger.GrantID{g.ID, id16("none")}, RevokedBeforeByClient: []ledger.RevokedBefore{{Client: "app", Seq: 2}}}}))
	o := v.Decide(&ledger.Sweep{Grants: []ledger.GrantID{g.ID}}, command.Meta{ID: command.ID{1}, Seq: 9, At: 1_800_000_000_000})
	require.Equal(t, ledger.Outcome{Count: 2}, o)
}

// TestSweepPages verifies that a walk over grants, sessions and logos in small pieces finds
// each row to remove once, and begins again at the end.
func TestSweepPages(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "sign-in alice", "user bob", "import app owner=alice secrets=s scopes=PROFILE_READ"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	for i := range 5 {
		w.run(fmt.Sprintf("allow alice client=app scope=PROFILE_READ grant=g%d", i))
		w.run(fmt.Sprintf("sign-in bob session=s%d", i))
	}
	w.run("user-state bob to=disable")
	for _, name := range logoNames {
		w.run("create " + name + " owner=alice scopes=PROFILE_READ logo=" + name)
	}
	require.Equal(t, "ok", w.run("delete red revision=1"))
	require.Equal(t, "ok", w.run("delete blue revision=1"))
	w.run("now +1h")
	w.run("allow alice client=app scope=PROFILE_READ grant=later")
	v, at := w.view(), w.at().Add(24*time.Hour-time.Minute)

	for limit := 1; limit <= 7; limit++ {
		grants := walkPages(func(from ledger.GrantID) ([]ledger.GrantID, ledger.GrantID) {
			return v.SweepableGrants(from, limit, at)
		})
		require.Len(t, grants, 5)
		require.NotContains(t, grants, ledger.GrantID(id16("later")))
		require.ElementsMatch(t, [][32]byte{sessionOf("s0"), sessionOf("s1"), sessionOf("s2"), sessionOf("s3"), sessionOf("s4")},
			walkPages(func(from [32]byte) ([][32]byte, [32]byte) { return v.SweepableSessions(from, limit, w.at()) }))
		require.ElementsMatch(t, [][32]byte{[32]byte(digestOfLogo("red")), [32]byte(digestOfLogo("blue"))},
			walkPages(func(from [32]byte) ([][32]byte, [32]byte) { return v.UnusedLogos(from, limit) }))
	}
	ids, next := v.SweepableGrants(ledger.GrantID{}, 6, at)
	require.Len(t, ids, 5)
	require.Zero(t, next, "the table has six rows")
	_, next = v.SweepableGrants(ledger.GrantID{}, 5, at)
	require.NotZero(t, next)
	_, session := v.SweepableSessions([32]byte{}, 5, w.at())
	require.NotZero(t, session)
	_, logo := v.UnusedLogos([32]byte{}, 2)
	require.NotZero(t, logo)

	// A grant can be swept even if the row of its user does not exist.
	alone := viewOf(t, tableOf(ledger.TableGrants, []*ledger.Grant{{ID: id16("g"), User: "none", Ended: 1, EndCause: ledger.GrantEnded}}))
	o := alone.Decide(&ledger.Sweep{Grants: []ledger.GrantID{id16("g")}}, command.Meta{ID: command.ID{1}, Seq: 9, At: 1_800_000_000_000})
	require.Equal(t, ledger.Outcome{Count: 1}, o)
}

// TestSweepDocumentPages verifies that pages of any size have each client with a document that can be
// swept, and that the list of publishers is limited.
func TestSweepDocumentPages(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "sign-in alice", "settings agents=reviewed", "put-publisher approved.example scopes=PROFILE_READ",
		"import abc owner=alice scopes=PROFILE_READ", "import xyz owner=alice scopes=PROFILE_READ",
		"document https://approved.example/1 by=alice", "document https://a.example/1 by=alice", "document https://b.example/1 by=alice",
	} {
		require.Equal(t, "ok", w.run(line), line)
	}
	v, at := w.view(), w.at().Add(7*24*time.Hour)
	want := []string{ledger.ClientKey("https://a.example/1"), ledger.ClientKey("https://b.example/1")}
	for limit := 1; limit <= 4; limit++ {
		require.ElementsMatch(t, want, walkPages(func(from string) ([]string, string) { return v.SweepableDocuments(from, limit, at) }))
		hosts := []string{"a.example", "b.example"}
		require.Equal(t, hosts[:min(limit, 2)], v.SweepablePublishers(limit, at))
	}
	_, next := v.SweepableDocuments("", 2, at)
	require.NotEmpty(t, next)
	_, next = v.SweepableDocuments("", 3, at)
	require.Empty(t, next, "there are three")
	require.Empty(t, v.SweepablePublishers(2, at-1), "they still wait")
}

// walkPages collects the ids of a walk that begins and ends at the zero id.
func walkPages[ID comparable](page func(from ID) ([]ID, ID)) (all []ID) {
	var from, zero ID
	for {
		ids, next := page(from)
		all = append(all, ids...)
		if next == zero {
			return all
		}
		from = next
	}
}

// TestSweepBounds verifies that a Sweep removes no more rows than one command may, and that
// the next one removes the others.
func TestSweepBounds(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.run("sign-in alice")
	w.run("import app owner=alice secrets=s scopes=PROFILE_READ")
	for _, line := range []string{"settings agents=listed", "put-publisher agent.example scopes=PROFILE_READ", "document https://agent.example/client by=alice"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	all := ledger.Sweep{Documents: []string{ledger.ClientKey("https://agent.example/client")}}
	for i := range 101 {
		grant := fmt.Sprintf("g%d", i)
		require.Contains(t, w.run("allow alice client=app scope=PROFILE_READ grant="+grant), "issued")
		all.Grants = append(all.Grants, id16(grant))
	}
	for i := range 250 {
		name := fmt.Sprintf("user%d", i)
		w.must(&ledger.PutUser{ID: "u-" + name, Username: name, Password: "hash"})
		require.Equal(t, "ok", w.run("sign-in "+name))
		all.Sessions = append(all.Sessions, sessionOf(name))
	}
	for _, name := range logoNames {
		w.run("create " + name + " owner=alice scopes=PROFILE_READ logo=" + name)
		require.Equal(t, "ok", w.run("delete "+name+" revision=1"))
		all.Logos = append(all.Logos, [32]byte(digestOfLogo(name)))
	}
	w.run("now +744h")
	sweep := func() int {
		o, _ := w.do(&all, "", false)
		return o.Count
	}
	require.Equal(t, 200, sweep(), "100 grants, their user, 99 sessions, no logo, no document")
	require.Len(t, w.view().User("u-alice").Grants, 1)
	require.NotNil(t, w.view().Grant(id16("g100")))
	require.NotNil(t, w.view().Logo([32]byte(all.Logos[0])))
	all.Grants = all.Grants[1:]
	require.Equal(t, 2+151+3+1, sweep(), "a grant, its user, 151 sessions, the logos and the document")
	require.Empty(t, w.view().User("u-alice").Grants)
	require.Zero(t, sweep(), "nothing is left")
}
