package ledger_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestAllowBounds verifies how many grants a user may have, and how often a user may allow
// within 24 hours.
func TestAllowBounds(t *testing.T) {
	const now = ledger.Time(1_800_000_000_000)
	for name, test := range map[string]struct {
		grants  int
		first   ledger.Time // creation of the grant 2,000 before the new one, 0 if it was swept
		keyless bool
		cause   ledger.Cause
	}{
		"few":               {1999, now, false, ledger.NoCause},
		"too often":         {2000, now, false, ledger.TooManyAllows},
		"within a day":      {2000, now.Add(-24*time.Hour) + 1, false, ledger.TooManyAllows},
		"after a day":       {2000, now.Add(-24 * time.Hour), false, ledger.NoCause},
		"it was swept":      {2000, 0, false, ledger.NoCause},
		"nearly too many":   {9999, 0, false, ledger.NoCause},
		"too many":          {10_000, 0, false, ledger.TooManyGrants},
		"no credential key": {0, 0, true, ledger.KeyNotOpened},
	} {
		t.Run(name, func(t *testing.T) {
			u := &ledger.User{ID: "u-1", Username: "alice"}
			for i := range test.grants {
				var id ledger.GrantID
				binary.BigEndian.PutUint32(id[:], uint32(i+1))
				u.Grants = append(u.Grants, id)
			}
			tables := []table{
				tableOf(ledger.TableUsers, []*ledger.User{u}),
				tableOf(ledger.TableSessions, []*ledger.Session{{ID: sessionOf("s"), User: "u-1", CreatedSeq: 1, Created: now, Seen: now}}),
				tableOf(ledger.TableClients, []*ledger.Client{{
					ID: "app", State: ledger.Approved, Type: ledger.Confidential, Revision: 1,
					Profile: ledger.Profile{RedirectURIs: []string{"https://app.example/cb"}, Scopes: []string{"PROFILE_READ"}},
				}}),
			}
			if !test.keyless {
				tables = append(tables, tableOf(ledger.TableKeys, []*ledger.Key{{ID: "c1", Purpose: ledger.ForCredentials, State: ledger.KeyActive, Number: 1}}))
			}
			if n := test.grants - 2000; n >= 0 && test.first != 0 {
				tables = append(tables, tableOf(ledger.TableGrants, []*ledger.Grant{{ID: u.Grants[n], User: "u-1", Client: "app", Created: test.first}}))
			}
			o := viewOf(t, tables...).Decide(&ledger.Allow{
				Actor: ledger.Actor{Session: sessionOf("s")}, User: "u-1", Grant: ledger.GrantID{0xff}, Revision: 1,
				Request: oauth.AuthorizationRequest{ClientID: "app", RedirectURI: "https://app.example/cb", Scope: "PROFILE_READ"},
			}, command.Meta{ID: command.ID{1}, Seq: 9, At: int64(now)})
			if test.cause == ledger.NoCause {
				require.Nil(t, o.Refusal)
				require.Equal(t, ledger.GrantID{0xff}, o.Issued.Grant)
				return
			}
			require.Equal(t, test.cause, o.Refusal.Cause)
			if test.cause == ledger.TooManyAllows {
				require.Equal(t, test.first.Add(24*time.Hour), o.Refusal.When)
			}
		})
	}
}

// TestAgentGrantBound verifies how many live grants for clients with a document a user may
// have.
func TestAgentGrantBound(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "sign-in alice", "settings agents=listed", "put-publisher local scopes=BOOKING_READ defaults=BOOKING_READ",
		"import cal owner=alice scopes=PROFILE_READ",
	} {
		require.Equal(t, "ok", w.run(line), line)
	}
	require.Contains(t, w.run("allow alice client=cal scope=PROFILE_READ grant=plain"), "issued") // which does not count
	allow := func(n int) string {
		return w.run(fmt.Sprintf("allow alice client=mmd_0 registered=http://127.0.0.1/cb uri=http://127.0.0.1/cb verifier=v revision=1 grant=g%d", n))
	}
	for n := range 20 {
		require.Contains(t, allow(n), "issued", n)
	}
	require.Equal(t, "access_denied: "+ledger.TooManyAgentGrants.String(), allow(20))
	require.Equal(t, "ok", w.run("revoke g0"))
	require.Contains(t, allow(20), "issued", "a grant that was ended counts")
}

// TestFirstAllowBound verifies which grants count as the first for a registered client,
// of which a user may make ten a day.
func TestFirstAllowBound(t *testing.T) {
	const now = ledger.Time(1_800_000_000_000)
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Agents = "https://api.example.com", "https://app.example.com", ledger.AgentsListed
	registered := &ledger.Document{ClientID: "mmd_0", Registered: ledger.LocalPublisher}
	for name, test := range map[string]struct {
		client  *ledger.Client // of one of ten grants, the others count
		swept   bool
		refused bool
	}{
		"the first":      {&ledger.Client{Created: now, Document: registered}, false, true},
		"not the first":  {&ledger.Client{Created: now - 1, Document: registered}, false, false},
		"of a document":  {&ledger.Client{Created: now, Document: &ledger.Document{ClientID: "https://agent.example/client"}}, false, false},
		"of a developer": {&ledger.Client{Created: now}, false, false},
		"a swept client": {nil, false, false},
		"a swept grant":  {&ledger.Client{Created: now, Document: registered}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := &ledger.User{ID: "u-1", Username: "alice"}
			var grants []*ledger.Grant
			var clients []*ledger.Client
			for i := range 10 {
				id := fmt.Sprint("c", i)
				c := &ledger.Client{Created: now, Document: registered}
				if i == 0 {
					c = test.client
				}
				if c != nil {
					c.ID = id
					clients = append(clients, c)
				}
				g := &ledger.Grant{ID: id16(id), User: "u-1", Client: id, Created: now}
				u.Grants = append(u.Grants, g.ID)
				if i > 0 || !test.swept {
					grants = append(grants, g)
				}
			}
			o := viewOf(t,
				tableOf(ledger.TableSettings, []*ledger.Settings{&s}),
				tableOf(ledger.TablePublishers, []*ledger.Publisher{{Host: ledger.LocalPublisher, State: ledger.PublisherApproved, Scopes: []string{"BOOKING_READ"}}}),
				tableOf(ledger.TableKeys, []*ledger.Key{{ID: "c1", Purpose: ledger.ForCredentials, State: ledger.KeyActive, Number: 1}}),
				tableOf(ledger.TableSessions, []*ledger.Session{{ID: sessionOf("s"), User: "u-1", CreatedSeq: 1, Created: now, Seen: now}}),
				tableOf(ledger.TableUsers, []*ledger.User{u}), tableOf(ledger.TableGrants, grants), tableOf(ledger.TableClients, clients),
			).Decide(&ledger.Allow{
				Actor: ledger.Actor{Session: sessionOf("s")}, User: "u-1", Grant: id16("new"), Revision: 1,
				Request: oauth.AuthorizationRequest{
					ClientID: "mmd_new", RedirectURI: "http://127.0.0.1/cb", Scope: "BOOKING_READ", CodeChallenge: challengeOf("v"),
					Registration: &oauth.Registration{Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/cb"}},
				},
			}, command.Meta{ID: command.ID{1}, Seq: 9, At: int64(now)})
			if !test.refused {
				require.Nil(t, o.Refusal)
				return
			}
			require.NotNil(t, o.Refusal)
			require.Equal(t, ledger.TooManyAllows, o.Refusal.Cause)
			require.Equal(t, now.Add(24*time.Hour), o.Refusal.When)
		})
	}
}

// TestConnections verifies what is reported of a user's connection with several grants.
func TestConnections(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "sign-in alice", "import app owner=alice legacy secrets=s"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	since := w.at()
	require.Contains(t, w.run("allow alice client=app grant=g1"), "legacy")
	require.Contains(t, w.run("exchange client=app secret=s grant=g1"), "legacy")
	w.run("now +1h")
	require.Contains(t, w.run("allow alice client=app scope=BOOKING_READ grant=g2"), "BOOKING_READ")
	one, ok := w.view().ConnectedAs("u-alice", "app", w.at())
	require.True(t, ok)
	require.Equal(t, ledger.ConnectedUser{User: "u-alice", Since: since, Refreshed: since, Legacy: true, Profile: true}, one)
	_, ok = w.view().ConnectedAs("u-bob", "app", w.at())
	require.False(t, ok)
}

// TestConfirmedFresh verifies that a refusal is confirmed on an up-to-date view unless it
// is applied, and that an acceptance is not.
func TestConfirmedFresh(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "sign-in alice", "import app owner=alice scopes=PROFILE_READ secrets=s"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	w.run("allow alice client=app scope=PROFILE_READ grant=g")
	w.run("exchange client=app secret=s grant=g id=first")
	w.run("refresh client=app secret=s grant=g gen=1")
	w.run("now +2m")
	for line, want := range map[string]bool{
		"refresh client=app secret=s grant=g gen=2":     false,
		"refresh client=app secret=wrong grant=g gen=2": true,
		"refresh client=app secret=s grant=g gen=9":     true,
		"refresh client=app secret=s grant=g gen=1":     false, // it ends the grant
		"exchange client=app secret=s grant=g":          false,
	} {
		d := w.command(parseLine(line)).Decide(w.memory.View(), command.Meta{ID: command.ID{9}, Seq: w.seq + 1, At: int64(w.at())})
		require.Equal(t, want, d.ConfirmFresh, line)
	}
	// The response to a retry was lost: it changes nothing, and is an acceptance.
	w.run("refresh client=app secret=s grant=g gen=2 id=last")
	d := w.command(parseLine("refresh client=app secret=s grant=g gen=2")).Decide(w.memory.View(), command.Meta{ID: id16("last"), Seq: w.seq + 1, At: int64(w.at())})
	require.NotNil(t, d.Outcome.(ledger.Outcome).Issued)
	require.False(t, d.ConfirmFresh)
}

// TestWrongSecrets verifies the cause of a wrong secret, by the state of the client's own.
func TestWrongSecrets(t *testing.T) {
	active := []*ledger.Key{{ID: "c1", Purpose: ledger.ForCredentials, State: ledger.KeyRetiring, Number: 1}, {ID: "c2", Purpose: ledger.ForCredentials, State: ledger.KeyActive, Number: 2}}
	for name, test := range map[string]struct {
		secret ledger.Secret
		cause  ledger.Cause
		again  bool
	}{
		"under the same key":           {ledger.Secret{ID: "s", Key: 2}, ledger.SecretWrong, false},
		"under a dropped key":          {ledger.Secret{ID: "s", Key: 9}, ledger.SecretKeyDropped, false},
		"revoked, under a dropped key": {ledger.Secret{ID: "s", Key: 9, Revoked: 1}, ledger.SecretWrong, false},
		"under a key not opened":       {ledger.Secret{ID: "s", Key: 1}, ledger.NoCause, true},
		"revoked, a key not opened":    {ledger.Secret{ID: "s", Key: 1, Revoked: 1}, ledger.SecretWrong, false},
		"revoked, presented":           {ledger.Secret{ID: "s", Key: 2, Revoked: 1, Digest: digestUnder(2, "x")}, ledger.SecretRevoked, false},
	} {
		v := viewOf(t, tableOf(ledger.TableKeys, active), tableOf(ledger.TableClients, []*ledger.Client{
			{ID: "app", Type: ledger.Confidential, State: ledger.Approved, Secrets: []ledger.Secret{test.secret}},
		}))
		proof := ledger.ClientAuth{Client: "app", Secret: true, Digests: []ledger.Digest{{Key: 2, MAC: digestUnder(2, "x")}}}
		o := v.Decide(&ledger.Refresh{ClientAuth: proof, Credential: &ledger.CredentialRef{}}, command.Meta{ID: command.ID{1}, Seq: 9, At: 9})
		require.Equal(t, test.again, o.Unknown, name)
		if !test.again {
			require.Equal(t, test.cause, o.Refusal.Cause, name)
		}
	}
}
