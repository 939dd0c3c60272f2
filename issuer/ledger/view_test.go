package ledger_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestGrantState verifies what each event does to a grant: whether it has ended, whether
// its access tokens are revoked, and whether one of its credentials may be redeemed.
func TestGrantState(t *testing.T) {
	for name, test := range map[string]struct {
		lines                  []string
		ended, revoked, redeem ledger.Cause
	}{
		"live":                 {nil, ledger.NoCause, ledger.NoCause, ledger.NoCause},
		"revoked":              {[]string{"revoke g"}, ledger.GrantEnded, ledger.GrantEnded, ledger.GrantEnded},
		"disconnected":         {[]string{"disconnect alice client=app"}, ledger.GrantEnded, ledger.GrantEnded, ledger.GrantEnded},
		"client suspended":     {[]string{"review app verdict=suspend"}, ledger.NoCause, ledger.ClientSuspended, ledger.NoCause},
		"client deleted":       {[]string{"delete app"}, ledger.ClientDeleted, ledger.ClientDeleted, ledger.ClientDeleted},
		"user disabled":        {[]string{"user-state alice to=disable"}, ledger.UserDisabled, ledger.UserDisabled, ledger.UserDisabled},
		"user enabled again":   {[]string{"user-state alice to=disable", "user-state alice to=enable"}, ledger.GrantEnded, ledger.GrantEnded, ledger.GrantEnded},
		"user deleted":         {[]string{"user-state alice to=delete"}, ledger.UserDeleted, ledger.UserDeleted, ledger.UserDeleted},
		"key dropped":          {[]string{"activate c2 voters=n1", "drop c1 emergency"}, ledger.NoCause, ledger.NoCause, ledger.KeyNotRecorded},
		"key retired":          {[]string{"activate c2 voters=n1"}, ledger.NoCause, ledger.NoCause, ledger.NoCause},
		"dropped and restored": {[]string{"activate c2 voters=n1", "drop c1 emergency", "begin-restore"}, ledger.NoCause, ledger.NoCause, ledger.NoCause},
		"fast-forwarded": {
			[]string{"begin-restore", "refresh client=app secret=s digests=1,2 grant=g gen=7 key=1", "activate c2 voters=n1", "drop c1 emergency"},
			ledger.NoCause, ledger.NoCause, ledger.KeyNotRecorded,
		},
		"created after a restore": {[]string{"activate c2 voters=n1", "drop c1 emergency"}, ledger.NoCause, ledger.NoCause, ledger.KeyNotRecorded},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			if name == "created after a restore" {
				w.run("begin-restore")
			}
			for _, line := range append([]string{
				"user alice", "sign-in alice", "import app owner=alice secrets=s scopes=PROFILE_READ",
				"allow alice client=app scope=PROFILE_READ grant=g", "exchange client=app secret=s grant=g",
				"acknowledge n1 keys=c2", "add-key c2 purpose=credential number=2",
			}, test.lines...) {
				require.NotContains(t, w.run(line), "invalid_request", line)
			}
			v, id := w.view(), ledger.GrantID(id16("g"))
			require.Equal(t, test.ended, v.GrantEnded(id))
			require.Equal(t, test.revoked, v.TokensRevoked(id))
			require.Equal(t, test.redeem, v.GrantUnredeemable(v.Grant(id)))
			require.Len(t, v.GrantsOf("u-alice", w.at()), map[bool]int{true: 1}[test.redeem == ledger.NoCause])

			other := ledger.GrantID(id16("other"))
			require.Equal(t, ledger.NoCause, v.GrantEnded(other))
			require.Equal(t, ledger.NoCause, v.TokensRevoked(other))
		})
	}
}

// TestRowsWithoutOthers verifies that a view reads rows which name rows that are not there:
// a swept grant in a user's list, and a grant without its client.
func TestRowsWithoutOthers(t *testing.T) {
	g := &ledger.Grant{ID: id16("g"), User: "u-1", Client: "gone", Key: 1, CreatedSeq: 1}
	agent := *g
	agent.ID, agent.Agent = id16("agent"), true
	u := &ledger.User{ID: "u-1", Username: "alice", Grants: []ledger.GrantID{id16("swept"), g.ID, agent.ID}}
	v := viewOf(t,
		tableOf(ledger.TableGrants, []*ledger.Grant{g, &agent}), tableOf(ledger.TableUsers, []*ledger.User{u}),
		tableOf(ledger.TableKeys, []*ledger.Key{{ID: "c1", Purpose: ledger.ForCredentials, State: ledger.KeyActive, Number: 1}}))
	require.Empty(t, v.GrantsOf("u-1", 1))
	require.Empty(t, v.GrantsOf("u-2", 1))
	require.True(t, v.HasAllowed("u-1", "gone"))
	require.False(t, v.HasAllowed("u-1", "other"))
	require.False(t, v.HasAllowed("u-2", "gone"))
	require.Equal(t, ledger.ClientDeleted, v.GrantEnded(g.ID))
	require.Equal(t, ledger.ClientDeleted, v.TokensRevoked(g.ID))
	later := g.Created.Add(ledger.DefaultSettings().CodeLifetime) - 1
	require.False(t, v.Sweepable(g, later))
	spent := *g
	spent.Due = 1
	require.True(t, v.Sweepable(&spent, g.Created.Add(2*24*60*60*1e9)), "its client is gone")
	s := &ledger.Session{ID: sessionOf("s"), User: "u-2", CreatedSeq: 1}
	for _, u := range []*ledger.User{{ID: "u-2", Disabled: true}, {ID: "u-2", Deleted: true}, {ID: "u-3"}} {
		in, _ := viewOf(t, tableOf(ledger.TableSessions, []*ledger.Session{s}), tableOf(ledger.TableUsers, []*ledger.User{u})).SignedIn(s.ID, 1)
		require.Nil(t, in, "a session of a user who is disabled, deleted or not there")
	}
	require.Equal(t, "PROFILE_READ", v.ScopeOf(&ledger.Grant{Client: "gone", Agent: true, Scope: "PROFILE_READ"}))
	const url = "https://agent.example/client"
	documents := viewOf(t, tableOf(ledger.TableClients, []*ledger.Client{{ID: ledger.ClientKey(url), Document: &ledger.Document{ClientID: url + "2"}}}))
	require.Equal(t, "PROFILE_READ", documents.ScopeOf(&ledger.Grant{Client: ledger.ClientKey(url), Agent: true, Scope: "PROFILE_READ"}), "its publisher was removed")
	require.Nil(t, documents.ClientNamed(url), "another client with the same key")
	require.Nil(t, v.Client(""))
	require.Nil(t, v.User(""))
	require.Nil(t, v.UserByName(""))
}

// TestKeyKnown verifies that credential keys are found by number, and signing keys are not.
func TestKeyKnown(t *testing.T) {
	for name, test := range map[string]struct {
		keys []*ledger.Key
		want bool
	}{
		"active":                {[]*ledger.Key{{ID: "c1", Purpose: ledger.ForCredentials, State: ledger.KeyActive, Number: 1}}, true},
		"retiring":              {[]*ledger.Key{{ID: "c1", Purpose: ledger.ForCredentials, State: ledger.KeyRetiring, Number: 1}, {ID: "c2", Purpose: ledger.ForCredentials, State: ledger.KeyActive, Number: 2}}, true},
		"no active key":         {[]*ledger.Key{{ID: "c1", Purpose: ledger.ForCredentials, State: ledger.KeyRetiring, Number: 1}}, true},
		"another":               {[]*ledger.Key{{ID: "c2", Purpose: ledger.ForCredentials, State: ledger.KeyActive, Number: 2}}, false},
		"a signing key with it": {[]*ledger.Key{{ID: "k1", Purpose: ledger.ForSigning, State: ledger.KeyActive, Number: 1}}, false},
		"none":                  {nil, false},
	} {
		v := viewOf(t, tableOf(ledger.TableKeys, test.keys))
		require.Equal(t, !test.want, v.KeyDropped(&ledger.Secret{Key: 1}), name)
		require.False(t, v.KeyDropped(&ledger.Secret{Key: 1, Revoked: 1}), name)
	}
}

// TestStepDue verifies when a key takes its next step, in a keyring with and without an
// announced key.
func TestStepDue(t *testing.T) {
	w := newEnv(t)
	step := func(id string) (hours float64, ok bool) {
		at, ok := w.view().StepDue(w.view().Key(id))
		return at.Std().Sub(w.now).Hours(), ok
	}
	is := func(id string, want float64) {
		t.Helper()
		hours, ok := step(id)
		require.True(t, ok)
		require.InDelta(t, want, hours, 0.001)
	}
	is("k1", 90*24)
	is("c1", 90*24)
	w.run("settings rotate_every=240h")
	is("k1", 240)
	w.run("settings rotate_every=never")
	at, ok := w.view().StepDue(w.view().Key("k1"))
	require.False(t, ok)
	require.Zero(t, at)
	w.run("acknowledge n1 keys=c1,k1,k2")
	w.run("add-key k2 purpose=signing")
	is("k2", 1./6)
	is("k1", 1./6) // when k2 replaces it
	w.run("activate k2 voters=n1 emergency")
	is("k1", 31./60) // when it may be dropped
	require.False(t, viewOf(t).RotationDue(ledger.ForSigning, 1<<60), "there is no key")
}

// TestIndexTypes verifies that each index refuses rows and arguments of another type.
func TestIndexTypes(t *testing.T) {
	for name, table := range ledger.Tables() {
		for _, i := range table.Indexes {
			t.Run(name+" by "+i.Name, func(t *testing.T) {
				var err error
				switch i := i.Indexer.(type) {
				case memdb.SingleIndexer:
					_, _, err = i.FromObject(0)
				case memdb.MultiIndexer:
					_, _, err = i.FromObject(0)
				}
				require.Error(t, err)
				_, err = i.Indexer.FromArgs(0)
				require.Error(t, err)
				require.NotPanics(t, func() { _, err = i.Indexer.FromArgs() })
				if i.Unique {
					require.Error(t, err)
				}
			})
		}
	}
}

// TestReviews verifies each verdict on a client in each state, with and without a proposed
// revision.
func TestReviews(t *testing.T) {
	states := map[string][]string{
		"pending":             nil,
		"approved":            {"review app verdict=approve"},
		"approved, proposed":  {"review app verdict=approve", "edit app by=bob name=New"},
		"rejected":            {"review app verdict=reject reason=no"},
		"suspended":           {"review app verdict=approve", "review app verdict=suspend"},
		"suspended, proposed": {"review app verdict=approve", "edit app by=bob name=New", "review app verdict=suspend"},
		"deleted":             {"delete app"},
	}
	want := map[string]string{ // the state, or that it does not allow the verdict
		"pending approve": "approved", "pending reject": "rejected",
		"approved suspend":           "suspended",
		"approved, proposed approve": "approved New", "approved, proposed reject": "approved refused", "approved, proposed suspend": "suspended proposed",
		"suspended resume":            "approved",
		"suspended, proposed approve": "suspended New", "suspended, proposed reject": "suspended refused", "suspended, proposed resume": "approved proposed",
	}
	for state, lines := range states {
		for _, verdict := range []string{"approve", "reject", "suspend", "resume", "other"} {
			t.Run(state+" "+verdict, func(t *testing.T) {
				w := newEnv(t)
				for _, line := range append([]string{"user bob", "sign-in bob", "create app by=bob scopes=PROFILE_READ"}, lines...) {
					require.Equal(t, "ok", w.run(line), line)
				}
				before := *w.view().Client("app")
				said := w.run("review app verdict=" + verdict + " reason=why")
				c := w.view().Client("app")
				text, ok := want[state+" "+verdict]
				switch {
				case state == "deleted":
					require.Equal(t, "invalid_request: not found", said)
				case !ok:
					require.Equal(t, "invalid_request: its state does not allow that", said)
				}
				if !ok {
					require.Equal(t, before, *c)
					return
				}
				require.Equal(t, "ok", said)
				got := string(c.State)
				switch {
				case c.Proposed != nil:
					got += " proposed"
				case c.Refused != nil:
					got += " refused"
				case c.Name != "An Application":
					got += " " + c.Name
				}
				require.Equal(t, text, got)
				require.Equal(t, before.Revision+1, c.Revision)
				require.Equal(t, c.AwaitsReview(), c.Waiting != 0)
			})
		}
	}
}

// TestReviewReasons verifies the bounds of a reason, and that a rejection needs one.
func TestReviewReasons(t *testing.T) {
	w := newEnv(t)
	w.run("user bob")
	w.run("create app owner=bob scopes=PROFILE_READ")
	review := func(verdict ledger.Verdict, reason string) *ledger.Refusal {
		o, _ := w.do(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "app", Verdict: verdict, Reason: reason, Revision: w.view().Client("app").Revision}, "", false)
		return o.Refusal
	}
	long := fmt.Sprintf("%0500d", 0)
	require.Equal(t, "reason is missing: the owner must learn what to change", review(ledger.Reject, "").Field+" "+review(ledger.Reject, "").Note)
	require.Equal(t, "reason is too long: 501 characters, at most 500", review(ledger.Reject, long+"0").Field+" "+review(ledger.Reject, long+"0").Note)
	require.Nil(t, review(ledger.Approve, long))
	require.Equal(t, long, w.view().Client("app").Reason)
	require.Equal(t, "approve: "+long, w.view().LastEvent().Detail)
	require.Nil(t, review(ledger.Suspend, ""))
	require.Equal(t, "suspend", w.view().LastEvent().Detail)
}
