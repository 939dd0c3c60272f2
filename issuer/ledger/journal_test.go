package ledger_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// refresh returns an ordinary refresh and the state before it, as the log applies it.
func refresh(t testing.TB) (v ledger.View, c command.Command, d command.Decision, m command.Meta) {
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "sign-in alice", "import cal owner=alice secrets=s1 scopes=PROFILE_READ",
		"allow alice client=cal scope=PROFILE_READ grant=g", "exchange client=cal secret=s1 grant=g",
		"now +1h", // so that the use of the secret is recorded as well
	} {
		w.run(line)
	}
	v, m = w.view(), command.Meta{Seq: w.seq + 1, At: int64(w.at())}
	c = w.command(parseLine("refresh client=cal secret=s1 grant=g gen=1"))
	d = c.Decide(w.memory.View(), m)
	require.NotNil(t, d.Outcome.(ledger.Outcome).Issued)
	require.Len(t, d.Changes, 2)
	return v, c, d, m
}

// TestRefreshCostsTheJournalNothing: refreshes are the most frequent command.
func TestRefreshCostsTheJournalNothing(t *testing.T) {
	v, c, d, m := refresh(t)
	require.Nil(t, ledger.JournalRecord(v, c, d, m))
	require.Zero(t, testing.AllocsPerRun(100, func() { ledger.JournalRecord(v, c, d, m) }))
}

func BenchmarkJournalOfARefresh(b *testing.B) {
	v, c, d, m := refresh(b)
	b.ReportAllocs()
	for b.Loop() {
		if ledger.JournalRecord(v, c, d, m) != nil {
			b.Fatal("a refresh has a journal record")
		}
	}
}

func BenchmarkDecideRefresh(b *testing.B) {
	v, c, _, m := refresh(b)
	b.ReportAllocs()
	for b.Loop() {
		v.Decide(c, m)
	}
}

// TestJournaledEffects verifies what is journaled of a change from one row to another.
func TestJournaledEffects(t *testing.T) {
	g := ledger.GrantID{1}
	const none = "[]"
	approved := func(clients int, longRetry bool) *ledger.Publisher {
		return &ledger.Publisher{Host: "p", State: ledger.PublisherApproved, MaxClients: clients, LongRetry: longRetry}
	}
	for name, test := range map[string]struct {
		before, after any // rows, nil if there is none
		want          string
	}{
		"grant ends":              {&ledger.Grant{ID: g}, &ledger.Grant{ID: g, Ended: 1}, "[1]"},
		"grant is used":           {&ledger.Grant{ID: g}, &ledger.Grant{ID: g, Due: 1}, none},
		"grant ended before":      {&ledger.Grant{ID: g, Ended: 1}, &ledger.Grant{ID: g, Ended: 1, Due: 1}, none},
		"grant of a later backup": {nil, &ledger.Grant{ID: g, Ended: 1}, none},
		"ended grant is swept":    {&ledger.Grant{ID: g, Ended: 1}, nil, none},
		"session ends":            {&ledger.Session{ID: id32(1)}, nil, "[4]"},
		"session begins":          {nil, &ledger.Session{ID: id32(1)}, none},

		"user is new":              {nil, &ledger.User{ID: "u", Disabled: true}, none},
		"user is deleted":          {&ledger.User{ID: "u"}, &ledger.User{ID: "u", Deleted: true}, "[9]"},
		"user was deleted":         {&ledger.User{ID: "u", Deleted: true}, &ledger.User{ID: "u", Deleted: true, Grants: []ledger.GrantID{g}}, none},
		"user is disabled":         {&ledger.User{ID: "u"}, &ledger.User{ID: "u", Disabled: true, SessionsRevokedBefore: 1, GrantsRevokedBefore: 1}, "[7]"},
		"user is enabled":          {&ledger.User{ID: "u", Disabled: true}, &ledger.User{ID: "u"}, "[8]"},
		"password while disabled":  {&ledger.User{ID: "u", Disabled: true}, &ledger.User{ID: "u", Disabled: true, Password: "x", SessionsRevokedBefore: 1}, "[6]"},
		"user is promoted":         {&ledger.User{ID: "u"}, &ledger.User{ID: "u", Admin: true}, "[10]"},
		"administrator is demoted": {&ledger.User{ID: "u", Admin: true}, &ledger.User{ID: "u"}, "[11]"},
		"administrator's password": {&ledger.User{ID: "u", Admin: true}, &ledger.User{ID: "u", Admin: true, Password: "x"}, "[6]"},
		"all sessions end":         {&ledger.User{ID: "u"}, &ledger.User{ID: "u", SessionsRevokedBefore: 1}, "[5]"},
		"all grants end":           {&ledger.User{ID: "u"}, &ledger.User{ID: "u", GrantsRevokedBefore: 1}, "[2]"},
		"grants for a client end":  {&ledger.User{ID: "u"}, &ledger.User{ID: "u", RevokedBeforeByClient: []ledger.RevokedBefore{{Client: "c", Seq: 1}}}, "[2]"},
		"legacy grants end":        {&ledger.User{ID: "u"}, &ledger.User{ID: "u", RevokedBeforeByClient: []ledger.RevokedBefore{{Client: "c", Legacy: 1}}}, "[3]"},

		"client is new":            {nil, &ledger.Client{ID: "c", State: ledger.Suspended}, none},
		"client is deleted":        {&ledger.Client{ID: "c"}, &ledger.Client{ID: "c", State: ledger.Deleted, Last: command.ID{1}}, "[13]"},
		"client was deleted":       {&ledger.Client{ID: "c", State: ledger.Deleted}, &ledger.Client{ID: "c", State: ledger.Deleted, Last: command.ID{1}}, none},
		"a use is recorded":        {&ledger.Client{ID: "c", Owner: "u"}, &ledger.Client{ID: "c", Owner: "v"}, none},
		"client is transferred":    {&ledger.Client{ID: "c", Owner: "u"}, &ledger.Client{ID: "c", Owner: "v", Last: command.ID{1}}, "[22]"},
		"client is approved":       {&ledger.Client{ID: "c", State: ledger.Pending}, &ledger.Client{ID: "c", State: ledger.Approved, Last: command.ID{1}}, none},
		"client is resumed":        {&ledger.Client{ID: "c", State: ledger.Suspended}, &ledger.Client{ID: "c", State: ledger.Approved, Last: command.ID{1}}, "[12]"},
		"client is suspended":      {&ledger.Client{ID: "c", State: ledger.Approved}, &ledger.Client{ID: "c", State: ledger.Suspended, Last: command.ID{1}}, "[12]"},
		"edited after a rejection": {&ledger.Client{ID: "c", State: ledger.Rejected}, &ledger.Client{ID: "c", State: ledger.Pending, Last: command.ID{1}}, none},
		"client is pending again":  {&ledger.Client{ID: "c", State: ledger.Approved}, &ledger.Client{ID: "c", State: ledger.Pending, Last: command.ID{1}}, "[12]"},
		"scopes are selected":      {&ledger.Client{ID: "c", Legacy: true}, &ledger.Client{ID: "c", Last: command.ID{1}}, "[15]"},
		"legacy client is edited":  {&ledger.Client{ID: "c", Legacy: true}, &ledger.Client{ID: "c", Legacy: true, Last: command.ID{1}}, none},

		"token is revoked":           {&ledger.OperatorToken{ID: "t"}, &ledger.OperatorToken{ID: "t", Revoked: 1}, "[23]"},
		"token was revoked":          {&ledger.OperatorToken{ID: "t", Revoked: 1}, &ledger.OperatorToken{ID: "t", Revoked: 1, Used: 1}, none},
		"resource server is removed": {&ledger.ResourceServer{ID: "r", Name: "r"}, nil, "[26]"},
		"its scopes are narrowed":    {&ledger.ResourceServer{ID: "r", Name: "r"}, &ledger.ResourceServer{ID: "r", Name: "r", Scopes: []string{"A"}, Last: command.ID{1}}, "[27]"},
		"a use there is recorded":    {&ledger.ResourceServer{ID: "r", Name: "r"}, &ledger.ResourceServer{ID: "r", Name: "r", Scopes: []string{"A"}}, none},

		"publisher is rejected":       {approved(10, false), &ledger.Publisher{Host: "p", State: ledger.PublisherRejected}, "[29]"},
		"publisher was rejected":      {&ledger.Publisher{Host: "p", State: ledger.PublisherRejected}, &ledger.Publisher{Host: "p", State: ledger.PublisherRejected, Reason: "x"}, none},
		"listed again with less":      {&ledger.Publisher{Host: "p", State: ledger.PublisherRejected, MaxClients: 20}, approved(10, false), none},
		"publisher has more":          {approved(10, false), approved(20, true), none},
		"publisher has fewer clients": {approved(20, true), approved(10, true), "[31]"},
		"publisher is as before":      {approved(10, true), approved(10, true), none},
		"it may retry for less time":  {approved(10, true), approved(10, false), "[31]"},

		"key is new":             {nil, &ledger.Key{ID: "k", State: ledger.KeyAnnounced}, "[18]"},
		"key is activated":       {&ledger.Key{ID: "k", State: ledger.KeyAnnounced}, &ledger.Key{ID: "k", State: ledger.KeyActive}, "[19]"},
		"key retires":            {&ledger.Key{ID: "k", State: ledger.KeyActive}, &ledger.Key{ID: "k", State: ledger.KeyRetiring}, none},
		"key is dropped":         {&ledger.Key{ID: "k"}, nil, "[20]"},
		"announced, sealed anew": {&ledger.Key{ID: "k", State: ledger.KeyAnnounced}, &ledger.Key{ID: "k", State: ledger.KeyAnnounced, SealedUnder: "new"}, "[21]"},
	} {
		t.Run(name, func(t *testing.T) {
			var tables []table
			if test.before != nil {
				tables = append(tables, table{tableFor(test.before), []any{test.before}})
			}
			change := command.Change{Row: test.after}
			if test.after == nil {
				change = command.Change{Row: test.before, Delete: true}
			}
			d := command.Decision{Outcome: ledger.Outcome{}, Changes: []command.Change{change}}
			r := ledger.JournalRecord(viewOf(t, tables...), &ledger.Configure{}, d, command.Meta{Seq: 5, At: 6})
			kinds := []uint8{}
			if r != nil {
				require.NotEmpty(t, r.Effects)
				for _, e := range r.Effects {
					kinds = append(kinds, uint8(e.Kind))
				}
			}
			require.Equal(t, test.want, fmt.Sprint(kinds))
		})
	}
}

// tableFor returns the table of a row.
func tableFor(row any) string {
	switch row.(type) {
	case *ledger.Grant:
		return ledger.TableGrants
	case *ledger.Session:
		return ledger.TableSessions
	case *ledger.User:
		return ledger.TableUsers
	case *ledger.Client:
		return ledger.TableClients
	case *ledger.OperatorToken:
		return ledger.TableOperatorTokens
	case *ledger.ResourceServer:
		return ledger.TableResourceServers
	case *ledger.Publisher:
		return ledger.TablePublishers
	}
	return ledger.TableKeys
}

// TestJournaledCommands verifies that a Refresh is journaled if it was refused and ended
// the grant, and that a change of the cluster key is one effect after others.
func TestJournaledCommands(t *testing.T) {
	g := ledger.Grant{ID: ledger.GrantID{1}}
	keys := []*ledger.Key{{ID: "k1"}, {ID: "k2"}}
	v := viewOf(t, tableOf(ledger.TableGrants, []*ledger.Grant{&g}), tableOf(ledger.TableKeys, keys))
	ended := g
	ended.Ended = 1
	journal := func(c command.Command, o ledger.Outcome, rows ...any) *ledger.Record {
		d := command.Decision{Outcome: o}
		for _, r := range rows {
			d.Changes = append(d.Changes, command.Change{Row: r})
		}
		return ledger.JournalRecord(v, c, d, command.Meta{Seq: 5, At: 6})
	}
	require.Nil(t, journal(&ledger.Refresh{}, ledger.Outcome{}, &ended), "an accepted refresh ends nothing")
	require.Len(t, journal(&ledger.Refresh{}, ledger.Outcome{Refusal: &ledger.Refusal{}}, &ended).Effects, 1)
	r := journal(&ledger.Rewrap{}, ledger.Outcome{}, &ended, &ledger.Key{ID: "k1", SealedUnder: "new"}, &ledger.Key{ID: "k2", SealedUnder: "new"})
	require.Len(t, r.Effects, 2)
	require.Equal(t, ledger.EffectGrantEnded, r.Effects[0].Kind)
	require.Len(t, r.Effects[1].Sealed, 2)
}
