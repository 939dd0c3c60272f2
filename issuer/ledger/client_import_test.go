package ledger_test

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestImportRefusals verifies what a declaration of a client is refused for, field by field.
func TestImportRefusals(t *testing.T) {
	valid := ledger.ImportClient{
		ID: "new", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved,
		Profile: ledger.Profile{Name: "App", RedirectURIs: []string{"https://app.example/cb"}, Scopes: []string{"PROFILE_READ"}},
	}
	for name, test := range map[string]struct {
		change func(*ledger.ImportClient)
		want   string
	}{
		"valid":          {func(*ledger.ImportClient) {}, ""},
		"public":         {func(c *ledger.ImportClient) { c.Type = ledger.Public }, ""},
		"greatest id":    {func(c *ledger.ImportClient) { c.ID = strings.Repeat("a", 128) }, ""},
		"no id":          {func(c *ledger.ImportClient) { c.ID = "" }, "id must have 1 to 128 characters"},
		"bad id":         {func(c *ledger.ImportClient) { c.ID = "a b" }, "id may hold letters, digits and - _ . ~ @ | only"},
		"document's id":  {func(c *ledger.ImportClient) { c.ID = "doc.1" }, "id must not begin with doc."},
		"registered id":  {func(c *ledger.ImportClient) { c.ID = "mmd_1" }, "id must not begin with mmd_"},
		"no type":        {func(c *ledger.ImportClient) { c.Type = "" }, "type must be confidential or public"},
		"deleted id":     {func(c *ledger.ImportClient) { c.ID = "gone" }, "id is that of a deleted client, and can not be used again"},
		"deleted legacy": {func(c *ledger.ImportClient) { c.ID, c.Legacy = "gone", true }, "id is that of a deleted client, and can not be used again"},
		"other type":     {func(c *ledger.ImportClient) { c.ID, c.Type = "app", ledger.Public }, "type never changes"},
		"pending":        {func(c *ledger.ImportClient) { c.State = ledger.Pending }, ""},
		"rejected":       {func(c *ledger.ImportClient) { c.State = ledger.Rejected }, ""},
		"suspended":      {func(c *ledger.ImportClient) { c.State = ledger.Suspended }, ""},
		"deleted":        {func(c *ledger.ImportClient) { c.State = ledger.Deleted }, "state must be pending, approved, rejected or suspended"},
		"no state":       {func(c *ledger.ImportClient) { c.State = "" }, "state must be pending, approved, rejected or suspended"},
		"no owner":       {func(c *ledger.ImportClient) { c.Owner = "" }, "owner is not a user"},
		"unknown owner":  {func(c *ledger.ImportClient) { c.Owner = "u-carol" }, "owner is not a user"},
		"disabled owner": {func(c *ledger.ImportClient) { c.Owner = "u-bob" }, "owner is not a user"},
		"deleted owner":  {func(c *ledger.ImportClient) { c.Owner = "u-dave" }, "owner is not a user"},
		"no scope":       {func(c *ledger.ImportClient) { c.Profile.Scopes = nil }, "scopes needs at least one"},
		"legacy":         {func(c *ledger.ImportClient) { c.Legacy, c.Profile.Scopes = true, nil }, ""},
		"legacy, scopes": {func(c *ledger.ImportClient) { c.Legacy = true }, "scopes must be empty for a legacy client: it selects them at its migration"},
		"legacy again":   {func(c *ledger.ImportClient) { c.ID, c.Legacy, c.Profile.Scopes = "old", true, nil }, ""},
		"legacy at last": {func(c *ledger.ImportClient) { c.ID, c.Legacy, c.Profile.Scopes = "app", true, nil }, "legacy never returns to a client that has scopes"},
		"no name":        {func(c *ledger.ImportClient) { c.Profile.Name = "" }, "name is empty"},
		"unknown logo":   {func(c *ledger.ImportClient) { c.Profile.Logo = make([]byte, 32) }, "logo is not there any more; choose the picture again"},
		"known logo":     {func(c *ledger.ImportClient) { c.Profile.Logo = digestOfLogo("red") }, ""},
		"two secrets":    {func(c *ledger.ImportClient) { c.Secrets = secretsOf([]string{"a", "b"}) }, ""},
		"three secrets":  {func(c *ledger.ImportClient) { c.Secrets = secretsOf([]string{"a", "b", "c"}) }, "secrets has more than 2"},
		"three revoked":  {func(c *ledger.ImportClient) { c.Revoked = secretsOf([]string{"a", "b", "c"}) }, ""},
		"the same twice": {func(c *ledger.ImportClient) { c.Secrets = secretsOf([]string{"a", "a"}) }, "secrets has the same secret twice"},
		"also revoked": {func(c *ledger.ImportClient) {
			c.Secrets, c.Revoked = secretsOf([]string{"a"}), secretsOf([]string{"b", "a"})
		}, "secrets has the same secret twice"},
		"public, secret":  {func(c *ledger.ImportClient) { c.Type, c.Secrets = ledger.Public, secretsOf([]string{"a"}) }, "secrets must be empty for a public client"},
		"public, revoked": {func(c *ledger.ImportClient) { c.Type, c.Revoked = ledger.Public, secretsOf([]string{"a"}) }, "secrets must be empty for a public client"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			for _, line := range []string{
				"user alice", "user bob", "user-state bob to=disable", "user dave", "user-state dave to=delete",
				"import app owner=alice scopes=PROFILE_READ", "import old owner=alice legacy",
				"import gone owner=alice scopes=PROFILE_READ", "delete gone revision=1", "create shown owner=alice scopes=PROFILE_READ logo=red",
			} {
				require.Equal(t, "ok", w.run(line), line)
			}
			c := valid
			test.change(&c)
			o, changed := w.do(&c, "", false)
			require.Equal(t, test.want == "", changed)
			if test.want == "" {
				require.Equal(t, ledger.Outcome{ID: c.ID, Count: 1}, o)
				row := w.view().Client(c.ID)
				require.Equal(t, c.State, row.State)
				require.Equal(t, c.State == ledger.Pending, row.Waiting != 0)
				require.Equal(t, c.Legacy, row.Legacy)
				require.Equal(t, c.Legacy, row.WasLegacy)
				return
			}
			require.Equal(t, test.want, o.Refusal.Field+" "+o.Refusal.Note)
			if test.want == "secrets has more than 2" {
				require.Equal(t, ledger.TooManySecrets, o.Refusal.Cause)
			}
		})
	}
}

// TestImportAgain verifies what a second declaration of a client changes.
func TestImportAgain(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.run("user bob")
	declare := func(name, owner string, declared ...string) (ledger.Outcome, bool) {
		return w.do(&ledger.ImportClient{
			ID: "app", Owner: "u-" + owner, Type: ledger.Confidential, State: ledger.Approved, Declared: declared,
			Profile: ledger.Profile{Name: name, RedirectURIs: []string{"https://app.example/cb"}, Scopes: []string{"PROFILE_READ"}},
		}, name, false)
	}
	app := func() *ledger.Client { return w.view().Client("app") }

	_, changed := declare("first", "alice", "d1", "d0")
	require.True(t, changed)
	require.Equal(t, "d1", app().Declared, "the digest under the newest key")
	created := app().Created

	o, changed := declare("second", "alice", "d2", "d1")
	require.Equal(t, ledger.Outcome{ID: "app"}, o)
	require.True(t, changed, "the same declaration, under an older key")
	require.Equal(t, "d2", app().Declared)
	require.Equal(t, "first", app().Name)
	_, changed = declare("second again", "alice", "d2")
	require.False(t, changed)

	w.run("now +1h")
	require.Equal(t, "ok", w.run("offer app to=bob"))
	_, changed = declare("third", "alice", "d3")
	require.True(t, changed)
	require.NotNil(t, app().Offer, "the owner is the same")
	require.Equal(t, created, app().Created)
	require.Equal(t, uint64(2), app().Revision)
	require.Equal(t, "third", app().Name)

	o, changed = declare("third", "bob", "d4")
	require.Equal(t, ledger.Outcome{ID: "app"}, o)
	require.False(t, changed, "the command was applied before")

	_, changed = declare("fourth", "bob")
	require.True(t, changed)
	require.Equal(t, "u-bob", app().Owner)
	require.Nil(t, app().Offer, "the owner who made the offer owns nothing any more")
	require.Empty(t, app().Declared)

	require.Equal(t, "ok", w.run("edit app name=edited"))
	_, changed = declare("fifth", "bob")
	require.True(t, changed, "no declaration is the same as none")
	require.False(t, app().WasLegacy)

	require.Equal(t, "ok", w.run("import old owner=alice legacy"))
	require.Equal(t, "ok", w.run("import old owner=alice scopes=PROFILE_READ"))
	require.False(t, w.view().Client("old").Legacy)
	require.True(t, w.view().Client("old").WasLegacy)
}

// TestImportedSecrets verifies which secrets a client has after a declaration: declared ones
// that exist keep their id and history, and those that are not declared are revoked.
func TestImportedSecrets(t *testing.T) {
	for name, test := range map[string]struct {
		before, secrets, revoked string // names of secrets, a revoked one in brackets
		want                     string
	}{
		"first":              {"", "a b", "c", "a b (c)"},
		"same":               {"a b", "a b", "", "a b"},
		"one is gone":        {"a b", "b", "", "b (a)"},
		"one is new":         {"a", "a b", "", "a b"},
		"one is revoked":     {"a b", "b", "a", "b (a)"},
		"one is active":      {"(a) b", "a b", "", "a b"},
		"a revoked one":      {"(a) b", "b", "", "b (a)"},
		"revoked, again":     {"(a) b", "b", "a", "b (a)"},
		"all are gone":       {"a b", "", "", "(a) (b)"},
		"another is revoked": {"a", "a", "b", "a (b)"},
		"too many revoked":   {"", "a", "1 2 3 4 5 6 7 8 9", "a (2) (3) (4) (5) (6) (7) (8) (9)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.run("user alice")
			declare := func(active, revoked []string) {
				w.must(&ledger.ImportClient{
					ID: "app", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Secrets: secretsOf(active), Revoked: secretsOf(revoked),
					Profile: ledger.Profile{Name: "App", RedirectURIs: []string{"https://app.example/cb"}, Scopes: []string{"PROFILE_READ"}},
				})
			}
			var active, revoked []string
			for _, s := range strings.Fields(test.before) {
				if s, ok := strings.CutPrefix(s, "("); ok {
					revoked = append(revoked, strings.TrimSuffix(s, ")"))
				} else {
					active = append(active, s)
				}
			}
			declare(active, revoked)
			before := slices.Clone(w.view().Client("app").Secrets)
			w.run("now +1h")
			at := w.at()

			declare(strings.Fields(test.secrets), strings.Fields(test.revoked))
			var got []string
			for _, s := range w.view().Client("app").Secrets {
				text := s.ID
				if !s.Active() {
					text = "(" + text + ")"
				}
				got = append(got, text)
				i := slices.IndexFunc(before, func(b ledger.Secret) bool { return b.ID == s.ID })
				switch {
				case i < 0:
					require.GreaterOrEqual(t, s.Created, at)
				case !before[i].Active() && !s.Active():
					require.Equal(t, before[i], s, "it was revoked before")
				default:
					require.Equal(t, before[i].Created, s.Created)
					require.True(t, s.Active() || s.Revoked >= at)
				}
			}
			require.Equal(t, test.want, strings.Join(got, " "))
		})
	}
}

// TestImportedSecretIdentity verifies that a declared secret is an existing one if its
// digest and its key are the same.
func TestImportedSecretIdentity(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*ledger.NewSecret)
		known  bool
	}{
		"the same":       {func(*ledger.NewSecret) {}, true},
		"another id":     {func(n *ledger.NewSecret) { n.ID = "other" }, true},
		"another key":    {func(n *ledger.NewSecret) { n.ID, n.Key = "other", 2 }, false},
		"another digest": {func(n *ledger.NewSecret) { n.ID, n.Digest = "other", sha256.Sum256(nil) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.run("user alice")
			w.run("add-key c2 purpose=credential number=2")
			w.run("import app owner=alice secrets=a scopes=PROFILE_READ")
			n := secretOf("a")
			test.change(&n)
			w.must(&ledger.ImportClient{
				ID: "app", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Secrets: []ledger.NewSecret{n},
				Profile: w.view().Client("app").Profile,
			})
			list := w.view().Client("app").Secrets
			if test.known {
				require.Len(t, list, 1)
				require.Equal(t, "a", list[0].ID)
				require.Zero(t, list[0].HashSum, "only an imported hash has one")
				return
			}
			require.Len(t, list, 2)
			require.Equal(t, n.ID, list[0].ID)
			require.Equal(t, "a", list[1].ID)
			require.False(t, list[1].Active())
		})
	}
}
