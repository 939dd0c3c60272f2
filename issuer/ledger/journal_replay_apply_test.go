package ledger_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// preview returns how many effects a replay on the rows would apply, and why it would not
// apply others.
func preview(t *testing.T, effect ledger.Effect, tables ...table) (changes int, why []string) {
	t.Helper()
	p, refused := viewOf(t, tables...).PreviewReplay(0, []ledger.Record{{Seq: 9, At: 9, Effects: []ledger.Effect{effect}}})
	require.Nil(t, refused)
	for _, n := range p.Counts {
		require.Equal(t, 1, n.Changes+n.Skipped)
		changes += n.Changes
	}
	require.Len(t, p.Lines, changes)
	for _, line := range p.Lines {
		require.NotContains(t, line, ", by")
	}
	return changes, p.Unapplied
}

// TestReplayOnUsers verifies which effects on users, sessions and grants a replay applies:
// those on rows that the backup has, and which do not have the effect yet.
func TestReplayOnUsers(t *testing.T) {
	identity := make(ledger.Identity, 32)
	g, s := id16("g"), sessionOf("s")
	user := func(change func(*ledger.User)) *ledger.User {
		u := &ledger.User{ID: "u-1", Username: "alice", Grants: []ledger.GrantID{g, id16("swept")}}
		if change != nil {
			change(u)
		}
		return u
	}
	grant := func(change func(*ledger.Grant)) *ledger.Grant {
		g := &ledger.Grant{ID: g, User: "u-1", Client: "app", Legacy: true, CreatedSeq: 4}
		if change != nil {
			change(g)
		}
		return g
	}
	for name, test := range map[string]struct {
		user   *ledger.User
		grant  *ledger.Grant
		effect ledger.Effect
		want   int
	}{
		"a live grant ends":          {user(nil), grant(nil), ledger.Effect{Kind: ledger.EffectGrantEnded, Grant: g}, 1},
		"an ended grant":             {user(nil), grant(func(g *ledger.Grant) { g.Ended = 3 }), ledger.Effect{Kind: ledger.EffectGrantEnded, Grant: g}, 0},
		"an unknown grant":           {user(nil), nil, ledger.Effect{Kind: ledger.EffectGrantEnded, Grant: g}, 0},
		"a session ends":             {user(nil), nil, ledger.Effect{Kind: ledger.EffectSignedOut, Session: s}, 1},
		"an unknown session":         {user(nil), nil, ledger.Effect{Kind: ledger.EffectSignedOut, Session: sessionOf("other")}, 0},
		"unknown user":               {nil, nil, ledger.Effect{Kind: ledger.EffectPassword, User: "u-1", Password: "x"}, 0},
		"deleted user":               {user(func(u *ledger.User) { u.Deleted = true }), nil, ledger.Effect{Kind: ledger.EffectPassword, User: "u-1", Password: "x"}, 0},
		"disconnected":               {user(nil), grant(nil), ledger.Effect{Kind: ledger.EffectDisconnected, User: "u-1", Client: "app"}, 1},
		"disconnected from all":      {user(nil), grant(nil), ledger.Effect{Kind: ledger.EffectDisconnected, User: "u-1"}, 1},
		"not connected":              {user(nil), grant(nil), ledger.Effect{Kind: ledger.EffectDisconnected, User: "u-1", Client: "other"}, 0},
		"connected no more":          {user(nil), grant(func(g *ledger.Grant) { g.Ended, g.EndCause = 3, ledger.GrantEnded }), ledger.Effect{Kind: ledger.EffectDisconnected, User: "u-1"}, 0},
		"no grant left":              {user(nil), nil, ledger.Effect{Kind: ledger.EffectDisconnected, User: "u-1"}, 0},
		"legacy ended":               {user(nil), grant(nil), ledger.Effect{Kind: ledger.EffectLegacyEnded, User: "u-1", Client: "app", RevokedBefore: 4}, 1},
		"legacy ended, all":          {user(nil), grant(nil), ledger.Effect{Kind: ledger.EffectLegacyEnded, User: "u-1", Client: "app"}, 1},
		"legacy, created later":      {user(nil), grant(nil), ledger.Effect{Kind: ledger.EffectLegacyEnded, User: "u-1", Client: "app", RevokedBefore: 3}, 0},
		"legacy, of another client":  {user(nil), grant(nil), ledger.Effect{Kind: ledger.EffectLegacyEnded, User: "u-1", Client: "other", RevokedBefore: 4}, 0},
		"not legacy":                 {user(nil), grant(func(g *ledger.Grant) { g.Legacy = false }), ledger.Effect{Kind: ledger.EffectLegacyEnded, User: "u-1", Client: "app", RevokedBefore: 4}, 0},
		"disabled":                   {user(nil), nil, ledger.Effect{Kind: ledger.EffectUserDisabled, User: "u-1"}, 1},
		"disabled before":            {user(func(u *ledger.User) { u.Disabled = true }), nil, ledger.Effect{Kind: ledger.EffectUserDisabled, User: "u-1"}, 0},
		"enabled":                    {user(func(u *ledger.User) { u.Disabled = true }), nil, ledger.Effect{Kind: ledger.EffectUserEnabled, User: "u-1"}, 1},
		"not disabled":               {user(nil), nil, ledger.Effect{Kind: ledger.EffectUserEnabled, User: "u-1"}, 0},
		"enabled, the row counts":    {user(func(u *ledger.User) { u.Disabled = true }), nil, ledger.Effect{Kind: ledger.EffectUserEnabled, User: "u-1", Identity: identity}, 1},
		"promoted":                   {user(nil), nil, ledger.Effect{Kind: ledger.EffectAdminGranted, User: "u-1"}, 1},
		"an administrator already":   {user(func(u *ledger.User) { u.Admin = true }), nil, ledger.Effect{Kind: ledger.EffectAdminGranted, User: "u-1"}, 0},
		"demoted":                    {user(func(u *ledger.User) { u.Admin = true }), nil, ledger.Effect{Kind: ledger.EffectAdminRevoked, User: "u-1"}, 1},
		"no administrator":           {user(nil), nil, ledger.Effect{Kind: ledger.EffectAdminRevoked, User: "u-1"}, 0},
		"a feed's address":           {user(nil), nil, ledger.Effect{Kind: ledger.EffectFeedSet, User: "u-1", Feed: [32]byte{1}}, 1},
		"the same address":           {user(func(u *ledger.User) { u.FeedDigest = [32]byte{1} }), nil, ledger.Effect{Kind: ledger.EffectFeedSet, User: "u-1", Feed: [32]byte{1}}, 0},
		"an address removed":         {user(func(u *ledger.User) { u.FeedDigest = [32]byte{1} }), nil, ledger.Effect{Kind: ledger.EffectFeedSet, User: "u-1"}, 1},
		"no address to remove":       {user(nil), nil, ledger.Effect{Kind: ledger.EffectFeedSet, User: "u-1"}, 0},
		"unknown person disabled":    {nil, nil, ledger.Effect{Kind: ledger.EffectUserDisabled, User: "u-1", Identity: identity}, 1},
		"unknown person deleted":     {nil, nil, ledger.Effect{Kind: ledger.EffectUserDeleted, User: "u-1", Identity: identity}, 1},
		"unknown person enabled":     {nil, nil, ledger.Effect{Kind: ledger.EffectUserEnabled, User: "u-1", Identity: identity}, 0},
		"unknown person's sign-outs": {nil, nil, ledger.Effect{Kind: ledger.EffectSignedOutAll, User: "u-1", Identity: identity}, 0},
		"a person under another id":  {user(func(u *ledger.User) { u.FormerIdentity = identity }), nil, ledger.Effect{Kind: ledger.EffectSignedOutAll, User: "u-2", Identity: identity}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			tables := []table{tableOf(ledger.TableSessions, []*ledger.Session{{ID: s, User: "u-1"}})}
			if test.user != nil {
				tables = append(tables, tableOf(ledger.TableUsers, []*ledger.User{test.user}))
			}
			if test.grant != nil {
				tables = append(tables, tableOf(ledger.TableGrants, []*ledger.Grant{test.grant}))
			}
			changes, why := preview(t, test.effect, tables...)
			require.Equal(t, test.want, changes)
			require.Empty(t, why)
		})
	}
}

// TestReplayOnUnknownPersons verifies that a replay makes one row for each person that the
// backup does not have, and that no two rows have the same user name.
func TestReplayOnUnknownPersons(t *testing.T) {
	one, other := make(ledger.Identity, 32), append(make(ledger.Identity, 31), 1)
	for name, test := range map[string]struct {
		before  string
		effects []ledger.Effect
		want    map[string]string // user names by id
	}{
		"one":                  {"bob", []ledger.Effect{{User: "u-9", Identity: one}}, map[string]string{"u-bob": "bob", "u-9": "u-9"}},
		"one, twice":           {"bob", []ledger.Effect{{User: "u-9", Identity: one}, {User: "u-8", Identity: one}}, map[string]string{"u-bob": "bob", "u-9": "u-9"}},
		"two":                  {"bob", []ledger.Effect{{User: "u-9", Identity: one}, {User: "u-8", Identity: other}}, map[string]string{"u-bob": "bob", "u-9": "u-9", "u-8": "u-8"}},
		"two of a name":        {"bob", []ledger.Effect{{User: "u-a", Identity: one}, {User: "U-A", Identity: other}}, map[string]string{"u-bob": "bob", "u-a": "u-a", "U-A": ""}},
		"the name is taken":    {"bob", []ledger.Effect{{User: "BOB", Identity: one}}, map[string]string{"u-bob": "bob", "BOB": ""}},
		"the identity is none": {"bob", []ledger.Effect{{User: "u-9"}}, map[string]string{"u-bob": "bob"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.run("user " + test.before)
			w.must(&ledger.BeginRestore{})
			for i := range test.effects {
				test.effects[i].Kind = ledger.EffectUserDisabled
			}
			if name == "one, twice" {
				test.effects[1].Kind = ledger.EffectSignedOutAll
			}
			w.must(&ledger.Replay{Backup: 1, Records: []ledger.Record{{Seq: 2, At: w.at(), Effects: test.effects}}})
			applied := len(test.effects)
			if name == "the identity is none" {
				applied = 0
			}
			require.Equal(t, fmt.Sprintf("%d effects, %d of them on what the backup has", len(test.effects), applied), w.view().LastEvent().Detail)
			got := map[string]string{}
			for u := range w.view().Users() {
				got[u.ID] = u.Username
				require.Equal(t, u.ID != "u-bob", u.Disabled)
				if u.Username != "" {
					require.Equal(t, u, w.view().UserByName(u.Username))
				}
			}
			require.Equal(t, test.want, got)
		})
	}
}

// TestReplayOnClients verifies which effects on clients a replay applies.
func TestReplayOnClients(t *testing.T) {
	client := func(change func(*ledger.Client)) *ledger.Client {
		c := &ledger.Client{
			ID: "app", Type: ledger.Confidential, State: ledger.Approved, Owner: "u-1", Profile: ledger.Profile{
				Name: "App", RedirectURIs: []string{"https://a.example/", "https://b.example/"}, Scopes: []string{"PROFILE_READ", "BOOKING_READ"},
			},
			Secrets: []ledger.Secret{{ID: "s1", Key: 1}, {ID: "old", Key: 1, Revoked: 3}},
		}
		if change != nil {
			change(c)
		}
		return c
	}
	legacy := func(c *ledger.Client) { c.Legacy, c.Scopes = true, nil }
	public := func(c *ledger.Client) { c.Type, c.Secrets = ledger.Public, nil }
	secret := func(id string) ledger.Effect {
		return ledger.Effect{Kind: ledger.EffectSecretAdded, Client: "app", Secret: &ledger.NewSecret{ID: id, Key: 1}}
	}
	second := func(c *ledger.Client) { c.Secrets = append(c.Secrets, ledger.Secret{ID: "s2", Key: 1}) }
	ending := func(c *ledger.Client) { second(c); c.Secrets[0].Ends = 8 }
	ends := func(id string, at ledger.Time) ledger.Effect {
		return ledger.Effect{Kind: ledger.EffectSecretEnds, Client: "app", ID: id, Ends: at}
	}
	narrowed := func(uris, scopes []string) ledger.Effect {
		return ledger.Effect{Kind: ledger.EffectClientNarrowed, Client: "app", URIs: uris, Scopes: scopes}
	}
	both := []string{"https://a.example/", "https://b.example/"}
	for name, test := range map[string]struct {
		client *ledger.Client
		effect ledger.Effect
		want   int
		why    string
	}{
		"unknown":                {nil, ledger.Effect{Kind: ledger.EffectClientDeleted, Client: "app"}, 0, ""},
		"deleted":                {client(nil), ledger.Effect{Kind: ledger.EffectClientDeleted, Client: "app"}, 1, ""},
		"deleted before":         {client(func(c *ledger.Client) { c.State = ledger.Deleted }), ledger.Effect{Kind: ledger.EffectClientDeleted, Client: "app"}, 0, ""},
		"transferred":            {client(nil), ledger.Effect{Kind: ledger.EffectClientTransferred, Client: "app", User: "u-2"}, 1, ""},
		"transferred before":     {client(nil), ledger.Effect{Kind: ledger.EffectClientTransferred, Client: "app", User: "u-1"}, 0, ""},
		"scopes selected":        {client(legacy), ledger.Effect{Kind: ledger.EffectScopesSelected, Client: "app", Scopes: []string{"PROFILE_READ"}}, 1, ""},
		"scopes selected before": {client(nil), ledger.Effect{Kind: ledger.EffectScopesSelected, Client: "app", Scopes: []string{"PROFILE_READ"}}, 0, ""},

		"address removed":        {client(nil), narrowed(both[:1], []string{"PROFILE_READ", "BOOKING_READ"}), 1, ""},
		"scope removed":          {client(nil), narrowed(both, []string{"PROFILE_READ"}), 1, ""},
		"nothing removed":        {client(nil), narrowed(both, []string{"PROFILE_READ", "BOOKING_READ"}), 0, ""},
		"addresses alone":        {client(nil), narrowed(both, nil), 0, ""},
		"scopes alone":           {client(nil), narrowed(nil, []string{"PROFILE_READ", "BOOKING_READ"}), 0, ""},
		"scopes of a legacy one": {client(legacy), narrowed(both, []string{"PROFILE_READ"}), 0, ""},

		"secret revoked":          {client(nil), ledger.Effect{Kind: ledger.EffectSecretRevoked, Client: "app", ID: "s1"}, 1, ""},
		"secret revoked before":   {client(nil), ledger.Effect{Kind: ledger.EffectSecretRevoked, Client: "app", ID: "old"}, 0, ""},
		"unknown secret revoked":  {client(nil), ledger.Effect{Kind: ledger.EffectSecretRevoked, Client: "app", ID: "s9"}, 0, "the backup does not have it"},
		"secret of nobody":        {nil, ledger.Effect{Kind: ledger.EffectSecretRevoked, Client: "app", ID: "s1"}, 0, "the backup does not have the client"},
		"secret of a deleted one": {client(func(c *ledger.Client) { c.State, c.Secrets = ledger.Deleted, nil }), ledger.Effect{Kind: ledger.EffectSecretRevoked, Client: "app", ID: "s1"}, 0, ""},
		"secret added":            {client(nil), secret("s2"), 1, ""},
		"secret active again":     {client(nil), secret("old"), 1, ""},
		"secret added before":     {client(nil), secret("s1"), 0, ""},
		"third secret": {
			client(second), secret("s3"), 0, "the client has others",
		},
		"secret ends":                 {client(second), ends("s1", 9), 1, ""},
		"end cancelled":               {client(ending), ends("s1", 0), 1, ""},
		"secret ends already":         {client(ending), ends("s1", 8), 0, ""},
		"end of the only secret":      {client(nil), ends("s1", 9), 0, ""},
		"end of a revoked secret":     {client(second), ends("old", 9), 0, ""},
		"end of an unknown secret":    {client(second), ends("s9", 9), 0, "the backup does not have it"},
		"end of a secret of nobody":   {nil, ends("s1", 9), 0, "the backup does not have the client"},
		"revocation of the other one": {client(ending), ledger.Effect{Kind: ledger.EffectSecretRevoked, Client: "app", ID: "s2"}, 1, ""},

		"secret of a public one": {client(public), secret("s2"), 0, "the client has others"},
	} {
		t.Run(name, func(t *testing.T) {
			var tables []table
			if test.client != nil {
				tables = append(tables, tableOf(ledger.TableClients, []*ledger.Client{test.client}),
					tableOf(ledger.TableKeys, []*ledger.Key{{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, State: ledger.KeyActive}}),
					tableOf(ledger.TableUsers, []*ledger.User{{ID: "u-1", Username: "a"}, {ID: "u-2", Username: "b"}}))
			}
			changes, why := preview(t, test.effect, tables...)
			require.Equal(t, test.want, changes)
			if test.why == "" {
				require.Empty(t, why)
				return
			}
			require.Len(t, why, 1)
			require.Contains(t, why[0], ": "+test.why)
		})
	}
}

// TestReplayedState verifies each change of a client's state. A client that is not usable
// stays as it is, except for one that is resumed after its suspension.
func TestReplayedState(t *testing.T) {
	states := []ledger.ClientState{ledger.Pending, ledger.Approved, ledger.Rejected, ledger.Suspended}
	changes := map[[2]ledger.ClientState]bool{
		{ledger.Suspended, ledger.Approved}: true,
		{ledger.Approved, ledger.Suspended}: true,
		{ledger.Pending, ledger.Rejected}:   true,
		{ledger.Approved, ledger.Rejected}:  true,
		{ledger.Suspended, ledger.Rejected}: true,
		{ledger.Approved, ledger.Pending}:   true,
		{ledger.Suspended, ledger.Pending}:  true,
	}
	for _, from := range states {
		for _, to := range append(states, ledger.Deleted, "") {
			app := &ledger.Client{ID: "app", State: from}
			n, _ := preview(t, ledger.Effect{Kind: ledger.EffectClientState, Client: "app", State: to}, tableOf(ledger.TableClients, []*ledger.Client{app}))
			require.Equal(t, changes[[2]ledger.ClientState{from, to}], n == 1, "%s to %s", from, to)
		}
	}
}

// TestPreviewRefuses verifies that a preview refuses the records that a Replay refuses.
func TestPreviewRefuses(t *testing.T) {
	_, refused := viewOf(t).PreviewReplay(0, []ledger.Record{{Seq: 1}})
	require.Equal(t, "records have no time", refused.Field+" "+refused.Note)
	_, refused = viewOf(t).PreviewReplay(0, []ledger.Record{{Seq: 1, At: 1, Effects: []ledger.Effect{{Kind: ledger.EffectClientTransferred, Client: "app"}}}})
	require.Equal(t, ledger.BadField, refused.Cause, "a transfer to nobody")
	_, refused = viewOf(t).PreviewReplay(0, []ledger.Record{{Seq: 1, At: 1, Effects: []ledger.Effect{{Kind: ledger.EffectUserDisabled, At: -1}}}})
	require.Equal(t, ledger.BadField, refused.Cause, "a time before the epoch")
}

// TestReplayIsJournaledAgain verifies how a Replay is recorded, for a second restore of the
// same backup, and that its event counts the effects that changed something.
func TestReplayIsJournaledAgain(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.must(&ledger.BeginRestore{})
	w.must(&ledger.Replay{Backup: 1, Records: []ledger.Record{{Seq: 2, At: 5, Effects: []ledger.Effect{
		{Kind: ledger.EffectSignedOutAll, User: "u-alice"},
		{Kind: ledger.EffectSignedOutAll, User: "u-bob"},
		{Kind: ledger.EffectLegacyEnded, User: "u-alice", Client: "app", RevokedBefore: 1 << 40},
		{Kind: ledger.EffectLegacyEnded, User: "u-alice", Client: "app", RevokedBefore: 3},
	}}}})
	require.Equal(t, "4 effects, 1 of them on what the backup has", w.view().LastEvent().Detail)
	r := w.journal[len(w.journal)-1]
	require.Equal(t, w.seq, r.Seq)
	var before []uint64
	for _, e := range r.Effects {
		require.Equal(t, ledger.Time(5), e.At)
		before = append(before, e.RevokedBefore)
	}
	require.Equal(t, []uint64{0, 0, w.seq, 3}, before)
}

// TestReplaysOfLargeEffects verifies that secrets and keys count for the size of a command.
func TestReplaysOfLargeEffects(t *testing.T) {
	keys := make([]ledger.Record, 3)
	for i := range keys {
		key := &ledger.Key{ID: "k", Sealed: make([]byte, 20<<10)}
		keys[i] = ledger.Record{Seq: uint64(i + 1), At: 1, Effects: []ledger.Effect{{Kind: ledger.EffectKeyAdded, Key: key}}}
	}
	require.Len(t, ledger.Replays(0, keys), 3)
	secrets := make([]ledger.Record, ledger.MaxReplay)
	for i := range secrets {
		secret := &ledger.NewSecret{ID: string(make([]byte, ledger.MaxID))}
		secrets[i] = ledger.Record{Seq: uint64(i + 1), At: 1, Effects: []ledger.Effect{{Kind: ledger.EffectSecretAdded, Secret: secret}}}
	}
	require.Len(t, ledger.Replays(0, secrets), 3)
}
