package ledger_test

import (
	"crypto/sha256"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestNoTokenYet verifies that no token is issued without a signing key, or if its iat
// would be too far ahead. The client then has to repeat its request.
func TestNoTokenYet(t *testing.T) {
	const now = ledger.Time(1_800_000_000_000)
	for name, test := range map[string]struct {
		due     uint32
		signing bool
		revoked ledger.Time
		issued  bool
	}{
		"refresh":                           {1, true, 0, true},
		"refresh, after a revocation":       {1, true, now, true},
		"refresh, after several":            {1, true, now.Add(ledger.MaxAhead), false},
		"refresh, without a signing key":    {1, false, 0, false},
		"repetition":                        {2, true, 0, true},
		"repetition, after several":         {2, true, now.Add(ledger.MaxAhead), false},
		"repetition, without a signing key": {2, false, 0, false},
	} {
		keys := []*ledger.Key{{ID: "c1", Purpose: ledger.ForCredentials, State: ledger.KeyActive, Number: 1}}
		if test.signing {
			keys = append(keys, &ledger.Key{ID: "k1", Purpose: ledger.ForSigning, State: ledger.KeyActive})
		}
		g := &ledger.Grant{ID: id16("g"), Client: "app", User: "u-1", Scope: "PROFILE_READ", Due: test.due, Key: 1, CreatedSeq: 1, Created: now, Spent: now, Used: now}
		v := viewOf(t,
			tableOf(ledger.TableKeys, keys), tableOf(ledger.TableGrants, []*ledger.Grant{g}),
			tableOf(ledger.TableClients, []*ledger.Client{{ID: "app", State: ledger.Approved, Type: ledger.Public}}),
			tableOf(ledger.TableUsers, []*ledger.User{{ID: "u-1", Username: "alice", TokensRevokedBefore: test.revoked}}))
		link := &ledger.CredentialRef{Grant: g.ID, Generation: 1, Key: 1}
		o := v.Decide(&ledger.Refresh{ClientAuth: ledger.ClientAuth{Client: "app"}, Credential: link}, command.Meta{ID: command.ID{1}, Seq: 9, At: int64(now)})
		require.Nil(t, o.Refusal, name)
		require.Equal(t, test.issued, o.Issued != nil, name)
		require.Equal(t, !test.issued, o.Unknown, name)
	}
}

// TestUnspentTokens verifies which refresh tokens may still be presented.
func TestUnspentTokens(t *testing.T) {
	const now = ledger.Time(1_800_000_000_000)
	g := &ledger.Grant{ID: id16("g"), Client: "app", Due: 2, Spent: now}
	app := tableOf(ledger.TableClients, []*ledger.Client{{ID: "app", State: ledger.Approved, Type: ledger.Confidential}})
	grants := tableOf(ledger.TableGrants, []*ledger.Grant{g})
	meta := command.Meta{At: int64(now)}
	at := func(generation uint32) ledger.CredentialRef {
		return ledger.CredentialRef{Grant: g.ID, Generation: generation}
	}
	require.True(t, viewOf(t, app).Unspent(at(1), meta), "an unknown grant")
	require.True(t, viewOf(t, app, grants).Unspent(at(2), meta))
	require.True(t, viewOf(t, app, grants).Unspent(at(1), meta), "within the retry window")
	require.False(t, viewOf(t, app, grants).Unspent(at(0), meta))
	require.False(t, viewOf(t, grants).Unspent(at(1), meta), "an unknown client")
}

// TestLegacyStaysEnded: codes with scopes may be redeemed in another order than they were
// made in. The later one has ended more grants, and they stay ended.
func TestLegacyStaysEnded(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "sign-in alice", "import app owner=alice legacy secrets=s", "allow alice client=app scope=PROFILE_READ grant=first",
		"allow alice client=app grant=legacy", "allow alice client=app scope=PROFILE_READ grant=second",
		"exchange client=app secret=s grant=legacy", "exchange client=app secret=s grant=second",
	} {
		require.NotContains(t, w.run(line), "invalid", line)
	}
	require.Equal(t, ledger.Reauthorized, w.view().GrantEnded(id16("legacy")))
	require.Contains(t, w.run("exchange client=app secret=s grant=first"), "issued")
	require.Equal(t, ledger.Reauthorized, w.view().GrantEnded(id16("legacy")))
}

// TestDisconnectedClients verifies that a user who disconnects one client after another
// stays disconnected from all of them.
func TestDisconnectedClients(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.run("sign-in alice")
	clients := []string{"a", "b", "c"}
	for _, c := range clients {
		w.run("import " + c + " owner=alice scopes=PROFILE_READ")
		require.Contains(t, w.run("allow alice client="+c+" scope=PROFILE_READ grant="+c), "issued")
	}
	for i, c := range clients {
		require.Equal(t, "ok", w.run("disconnect alice client="+c))
		for j, other := range clients {
			require.Equal(t, j <= i, w.view().GrantEnded(id16(other)) != ledger.NoCause, "%s after %s", other, c)
		}
	}
}

// TestLastGeneration verifies that no generation is accepted that has no successor.
func TestLastGeneration(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "sign-in alice", "import app owner=alice scopes=PROFILE_READ secrets=s", "allow alice client=app scope=PROFILE_READ grant=g",
		"exchange client=app secret=s grant=g", "begin-restore",
	} {
		require.NotContains(t, w.run(line), "invalid", line)
	}
	refresh := func(generation uint32) ledger.Outcome {
		c := w.command(parseLine("refresh client=app secret=s grant=g")).(*ledger.Refresh)
		c.Credential.Generation = generation
		o, _ := w.do(c, "", false)
		return o
	}
	require.Equal(t, ledger.LaterThanDue, refresh(math.MaxUint32).Refusal.Cause)
	require.Equal(t, uint32(math.MaxUint32), refresh(math.MaxUint32-1).Issued.Generation)
}

// TestPasswordless verifies that a user without a password can't authenticate with the
// hash of an empty password.
func TestPasswordless(t *testing.T) {
	w := newEnv(t)
	require.Equal(t, "ok", w.run("upstream 1 username=bob session=s"))
	o, _ := w.do(&ledger.Reauthenticate{Session: sessionOf("s"), VerifiedHash: sha256.Sum256(nil)}, "", false)
	require.Equal(t, ledger.PasswordChanged, o.Refusal.Cause)
	o, _ = w.do(&ledger.SignIn{Session: sessionOf("t"), User: "u-1", VerifiedHash: sha256.Sum256(nil)}, "", false)
	require.Equal(t, ledger.PasswordChanged, o.Refusal.Cause)
}

// TestKeyringsToRewrap verifies that a change of the cluster key covers each key once.
func TestKeyringsToRewrap(t *testing.T) {
	keys := func(under ...string) table {
		var rows []*ledger.Key
		for i, u := range under {
			rows = append(rows, &ledger.Key{ID: string(rune('a' + i)), Purpose: ledger.ForSigning, Sealed: []byte("x"), SealedUnder: u})
		}
		return tableOf(ledger.TableKeys, rows)
	}
	node := tableOf(ledger.TableNodes, []*ledger.Node{{ID: "n1", ClusterKeys: []string{"new"}}})
	sealed := func(id, text string) ledger.SealedKey { return ledger.SealedKey{ID: id, Sealed: []byte(text)} }
	for name, test := range map[string]struct {
		under  []string
		keys   []ledger.SealedKey
		voters []string
		cause  ledger.Cause
	}{
		"all":                 {[]string{"", "old"}, []ledger.SealedKey{sealed("a", "y"), sealed("b", "y")}, []string{"n1"}, ledger.NoCause},
		"one is missing":      {[]string{"", "old"}, []ledger.SealedKey{sealed("a", "y")}, []string{"n1"}, ledger.KeyringDiffers},
		"one is unknown":      {[]string{"old"}, []ledger.SealedKey{sealed("a", "y"), sealed("b", "y")}, []string{"n1"}, ledger.KeyringDiffers},
		"one is there twice":  {[]string{"old"}, []ledger.SealedKey{sealed("a", "y"), sealed("a", "z")}, []string{"n1"}, ledger.KeyringDiffers},
		"one is empty":        {[]string{"old"}, []ledger.SealedKey{sealed("a", "")}, []string{"n1"}, ledger.KeyringDiffers},
		"sealed already":      {[]string{"new"}, nil, nil, ledger.NoCause},
		"one sealed already":  {[]string{"new", "old"}, nil, nil, ledger.KeyringDiffers},
		"no voter":            {[]string{"old"}, []ledger.SealedKey{sealed("a", "y")}, nil, ledger.ClusterKeyNotStored},
		"no key and no voter": {nil, nil, nil, ledger.ClusterKeyNotStored},
		"a voter without it":  {[]string{"old"}, []ledger.SealedKey{sealed("a", "y")}, []string{"n1", "n2"}, ledger.ClusterKeyNotStored},
	} {
		o := viewOf(t, keys(test.under...), node).Decide(&ledger.Rewrap{To: "new", Keys: test.keys, Voters: test.voters}, command.Meta{ID: command.ID{1}, Seq: 9, At: 9})
		if test.cause == ledger.NoCause {
			require.Nil(t, o.Refusal, name)
			continue
		}
		require.Equal(t, test.cause, o.Refusal.Cause, name)
	}
	require.Equal(t, "old", viewOf(t, keys("", "old")).SealedUnder())
	require.Empty(t, viewOf(t, keys("", "")).SealedUnder())
}

// TestAcknowledgements verifies which acknowledgements change the row of a node.
func TestAcknowledgements(t *testing.T) {
	w := newEnv(t)
	for i, test := range []struct {
		c       ledger.AcknowledgeKeys
		changes bool
	}{
		{ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"b", "a", "b"}, Version: "1"}, true},
		{ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"a", "b"}, Version: "1"}, false},
		{ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"a", "b"}, Version: "2"}, true},
		{ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"a"}, Version: "2"}, true},
		{ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"a"}, Version: "2", ClusterKeys: []string{"x"}}, true},
		{ledger.AcknowledgeKeys{Node: "n2", Opened: []string{"a"}, Version: "2", ClusterKeys: []string{"x"}}, true},
	} {
		_, changed := w.do(&test.c, "", false)
		require.Equal(t, test.changes, changed, i)
	}
	o, changed := w.do(&ledger.AcknowledgeKeys{}, "", false)
	require.Equal(t, "node is empty", o.Refusal.Field+" "+o.Refusal.Note)
	require.False(t, changed)
}

// TestTrimmedRevocations verifies that the trail records the last removed event which
// readers of the feed need.
func TestTrimmedRevocations(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.run("sign-in alice")
	w.run("import app owner=alice scopes=PROFILE_READ")
	var seqs []uint64
	for _, grant := range []string{"g1", "g2"} {
		w.run("allow alice client=app scope=PROFILE_READ grant=" + grant)
		require.Equal(t, "ok", w.run("revoke "+grant))
		seqs = append(seqs, w.seq)
	}
	w.must(&ledger.BeginRestore{})
	w.must(&ledger.Replay{Backup: 1, Records: []ledger.Record{{Seq: 2, At: 1}}})
	replayed := w.seq
	_, changed := w.do(&ledger.MarkLogged{Seq: w.seq + 10}, "", false)
	require.False(t, changed, "an event that is not there yet can't have been logged")
	require.Zero(t, w.view().Trail().Logged)
	w.run("user bob")
	w.must(&ledger.MarkLogged{Seq: w.seq})
	w.must(&ledger.Sweep{Events: []uint64{seqs[1], seqs[0]}})
	require.Equal(t, seqs[1], w.view().Trail().TrimmedRevocationSeq)
	w.must(&ledger.Sweep{Events: []uint64{replayed}})
	require.Equal(t, replayed, w.view().Trail().TrimmedRevocationSeq, "readers start again after a replay")
}

// TestEventsOfStates verifies that only an event which revokes tokens has the time up to
// which they are revoked.
func TestEventsOfStates(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	for _, test := range []struct {
		state   string
		revokes bool
	}{{"promote", false}, {"disable", true}, {"enable", false}, {"demote", false}, {"delete", true}} {
		require.Equal(t, "ok", w.run("user-state alice to="+test.state))
		require.Equal(t, test.revokes, w.view().LastEvent().TokensRevokedBefore != 0, test.state)
	}
}

// TestUnknownFateAfterARestore verifies that a command which is proposed again never
// concludes reuse, also where a grant might have been fast-forwarded.
func TestUnknownFateAfterARestore(t *testing.T) {
	for name, restored := range map[string]string{"before": "allow alice client=app scope=PROFILE_READ grant=g", "after": "refresh client=app secret=s grant=g gen=1", "never": ""} {
		w := newEnv(t)
		for _, line := range []string{
			"user alice", "sign-in alice", "import app owner=alice scopes=PROFILE_READ secrets=s", "allow alice client=app scope=PROFILE_READ grant=g",
			"exchange client=app secret=s grant=g", "refresh client=app secret=s grant=g gen=1", "now +2m",
		} {
			if name == "before" && line == restored {
				w.must(&ledger.BeginRestore{})
			}
			require.NotContains(t, w.run(line), "invalid", line)
			if name == "after" && line == restored {
				w.must(&ledger.BeginRestore{})
			}
		}
		require.Equal(t, "unknown", w.run("refresh client=app secret=s grant=g gen=1 again"), name)
		require.Contains(t, w.run("refresh client=app secret=s grant=g gen=1"), "the grant ended", name)
	}
}

// TestSecretOf verifies that a secret of a client is found by its id.
func TestSecretOf(t *testing.T) {
	c := ledger.Client{Secrets: []ledger.Secret{{ID: "a"}, {ID: "b"}}}
	require.Equal(t, "a", c.SecretOf("a").ID)
	require.Equal(t, "b", c.SecretOf("b").ID)
	require.Nil(t, c.SecretOf("c"))
	require.Nil(t, (&ledger.Client{}).SecretOf(""))
}

// TestRevokedWithATransfer verifies that a transfer keeps the time of an earlier revocation.
func TestRevokedWithATransfer(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "user bob", "sign-in bob", "import app owner=alice scopes=PROFILE_READ secrets=a revoked=b", "offer app to=bob", "now +1h"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	before := w.view().Client("app").SecretOf("b").Revoked
	require.Equal(t, "ok", w.run("accept app by=bob revoke"))
	c := w.view().Client("app")
	require.Equal(t, before, c.SecretOf("b").Revoked)
	require.Equal(t, w.at(), c.SecretOf("a").Revoked)
}
