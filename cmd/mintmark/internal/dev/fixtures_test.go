package dev

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const wholeFixtures = `
users:
  - {id: u-alice, username: alice, email: alice@example.com, name: Alice Example, password: "correct horse", time_zone: Europe/London, admin: false}
  - username: Bob
    password: 0012
    admin: true
    time_format: 12
    bio: |
      Two
      lines.
clients:
  - id: cal-app
    name: Calendar App
    owner: alice
    type: confidential
    redirect_uris: [http://127.0.0.1:9999/callback]
    scopes: [PROFILE_READ, BOOKING_READ]
    secrets: [first-secret, 12345]
    revoked_secrets: [old-secret]
    state: suspended
  - name: "Bob's Native App!"
    owner: BOB
    type: public
    redirect_uris: [com.example.app:/cb]
    scopes: [PROFILE_READ]
  - {id: old-app, name: Old, owner: alice, legacy: true, redirect_uris: ["https://old.example/cb"], secrets: [yes]}
resource_servers:
  - {id: "https://api.example/v2", name: bookings, scopes: [BOOKING_READ], secrets: [api-secret, 77]}
  - {id: "https://everything.example", name: everything}
publishers:
  - {host: agent.example, scopes: [BOOKING_READ, PROFILE_READ], default_scopes: [PROFILE_READ], max_clients: 5}
  - {host: local, scopes: [BOOKING_READ], redirect_uris: ["cursor://a/cb"]}
settings: {retry_window: 45s, code_lifetime: 300s, refresh_idle: 720h, grant_absolute: 8760h, audience: "https://api.example"}
`

func depsOf(w *admintest.Env) fixtureDeps {
	return fixtureDeps{Ledger: w, Secret: w.Secret, SecretOfSHA256: w.SecretOfSHA256, SecretOfHash: w.SecretOfHash, SecretDigests: w.SecretDigests, Declared: w.Declared, Passwords: w.Passwords}
}

func applyFixtures(t *testing.T, w *admintest.Env, text string) error {
	t.Helper()
	f, err := ParseFixtures("fixtures.yaml", []byte(text))
	require.NoError(t, err)
	return f.apply(t.Context(), depsOf(w))
}

// authenticates reports whether a secret is an active secret of the client.
func authenticates(w *admintest.Env, client, secret string) bool {
	s, _ := w.Secret(secret)
	for _, has := range w.View().Client(client).Secrets {
		if has.Active() && has.Digest == s.Digest {
			return true
		}
	}
	return false
}

// TestFixturesOfHashes: fixtures may have hashes of another system. A later change of an
// entry keeps the password or secret that has replaced the hash.
func TestFixturesOfHashes(t *testing.T) {
	w := admintest.New(t)
	const hash = "$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
	text := func(name string) string {
		return "users: [{id: u-kim, username: kim, name: " + name + ", password_hash: " + hash + "}]\n" +
			"clients: [{id: app, name: " + name + ", owner: kim, redirect_uris: [\"https://app.example/\"], scopes: [PROFILE_READ], secret_hash: " + hash + "}]"
	}
	require.NoError(t, applyFixtures(t, w, text("One")))
	require.Equal(t, hash, w.View().User("u-kim").Password)
	require.Equal(t, "bcrypt", w.View().User("u-kim").PasswordCost.Kind)
	require.Equal(t, hash, w.View().Client("app").Secrets[0].Hash)

	secret, err := w.Secret("plain")
	require.NoError(t, err)
	secret.ID = w.View().Client("app").Secrets[0].ID
	w.Do(&ledger.UpgradePassword{User: "u-kim", VerifiedHash: sha256.Sum256([]byte(hash)), Password: "own"})
	w.Do(&ledger.UpgradeSecret{Client: "app", VerifiedHash: sha256.Sum256([]byte(hash)), Secret: secret})
	require.NoError(t, applyFixtures(t, w, text("Two")))
	require.Equal(t, "Two", w.View().User("u-kim").Name)
	require.Equal(t, "own", w.View().User("u-kim").Password)
	require.Len(t, w.View().Client("app").Secrets, 1)
	require.True(t, authenticates(w, "app", "plain"))
}

func TestFixtures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fixtures.yaml")
	require.NoError(t, os.WriteFile(path, []byte(wholeFixtures), 0o600))
	f, err := loadFixtures(path)
	require.NoError(t, err)
	w := admintest.New(t)
	require.NoError(t, f.apply(t.Context(), depsOf(w)))

	bob := w.View().User("u-bob")
	require.Equal(t, "Bob", bob.Username)
	require.True(t, bob.Admin)
	require.Equal(t, 12, bob.TimeFormat)
	require.Equal(t, "Two\nlines.\n", bob.Bio)
	right, err := w.Passwords.Matches(t.Context(), bob.Password, "0012")
	require.NoError(t, err)
	require.True(t, right)

	app := w.View().Client("cal-app")
	require.Equal(t, "u-alice", app.Owner)
	require.Equal(t, ledger.Suspended, app.State)
	require.True(t, authenticates(w, "cal-app", "first-secret"))
	require.True(t, authenticates(w, "cal-app", "12345"))
	require.False(t, authenticates(w, "cal-app", "old-secret"))
	require.Len(t, app.Secrets, 3)

	native := w.View().Client("bob-s-native-app")
	require.Equal(t, "u-bob", native.Owner)
	require.Equal(t, ledger.Approved, native.State)
	require.True(t, w.View().Client("old-app").Legacy)
	require.True(t, authenticates(w, "old-app", "yes"))

	api := w.View().ResourceServerNamed("bookings")
	require.Equal(t, []string{"BOOKING_READ"}, api.Scopes)
	require.Equal(t, 2, api.ActiveSecrets())
	second, _ := w.Secret("77")
	require.Equal(t, second.Digest, api.Secrets[1].Digest)
	require.Empty(t, w.View().ResourceServer("https://everything.example").Scopes)

	require.Equal(t, []string{"PROFILE_READ"}, w.View().Publisher("agent.example").Defaults)
	require.Equal(t, ledger.PublisherApproved, w.View().Publisher("agent.example").State)
	require.Equal(t, []string{"cursor://a/cb"}, w.View().Publisher(ledger.LocalPublisher).RedirectURIs)

	s := ledger.DefaultSettings()
	f.settings(&s)
	require.Equal(t, 45*time.Second, s.RetryWindow)
	require.Equal(t, 30*time.Second, s.RetryWindowPublic)
	require.Equal(t, "https://api.example", s.Audience)
	require.Equal(t, ledger.DefaultSettings().SessionIdle, s.SessionIdle)
}

// TestDemoFixtures: the fixtures of the demo can be applied to a node on the loopback.
func TestDemoFixtures(t *testing.T) {
	f, err := ParseFixtures("demo.yaml", demoFixtures)
	require.NoError(t, err)
	w := admintest.New(t)
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "http://127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080"
	w.Do(&ledger.Configure{Settings: s})
	require.NoError(t, f.apply(t.Context(), depsOf(w)))
	require.True(t, authenticates(w, "demo-app", "demo-secret"))
}

func TestFixtureSettings(t *testing.T) {
	for name, test := range map[string]struct {
		text                string
		confidential, other time.Duration
	}{
		"nothing":   {``, time.Minute, 30 * time.Second},
		"short":     {`retry_window: 5s`, 5 * time.Second, 5 * time.Second},
		"long":      {`retry_window: 120s`, 2 * time.Minute, 30 * time.Second},
		"off":       {`retry_window: 0s`, 0, 0},
		"both":      {`{retry_window: 10s, retry_window_public: 50s}`, 10 * time.Second, 50 * time.Second},
		"only this": {`retry_window_public: 50s`, time.Minute, 50 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			text := ""
			if test.text != "" {
				text = "settings:\n  " + test.text
			}
			f, err := ParseFixtures("f", []byte(text))
			require.NoError(t, err)
			s := ledger.DefaultSettings()
			f.settings(&s)
			require.Equal(t, test.confidential, s.RetryWindow)
			require.Equal(t, test.other, s.RetryWindowPublic)
		})
	}
}

// TestDurationsWithDays: a duration in the fixtures may be in days.
func TestDurationsWithDays(t *testing.T) {
	f, err := ParseFixtures("f", []byte("settings:\n  refresh_idle: 30d\n  grant_absolute: 1d12h"))
	require.NoError(t, err)
	s := ledger.DefaultSettings()
	f.settings(&s)
	require.Equal(t, 30*24*time.Hour, s.RefreshIdle)
	require.Equal(t, 36*time.Hour, s.GrantAbsolute)
}

// A second start with the same fixtures proposes no changes, and undoes no later changes.
// If an entry was changed, only that entry is applied.
func TestFixturesAreAppliedOnce(t *testing.T) {
	w := admintest.New(t)
	require.NoError(t, applyFixtures(t, w, wholeFixtures))
	before, hash := w.Proposals.Load(), w.View().User("u-alice").Password
	require.NoError(t, applyFixtures(t, w, wholeFixtures))
	require.Equal(t, before, w.Proposals.Load())

	w.Do(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-bob", State: ledger.Disable})
	w.Do(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "old-app"})
	w.Do(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "cal-app", Verdict: ledger.Resume, Revision: 1})
	w.Do(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: "https://api.example/v2", Name: "renamed"})
	w.Do(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: "agent.example", Scopes: []string{"BOOKING_READ"}})
	before = w.Proposals.Load()
	require.NoError(t, applyFixtures(t, w, "# only a remark\n"+wholeFixtures))
	require.Equal(t, before, w.Proposals.Load())
	require.Equal(t, ledger.Approved, w.View().Client("cal-app").State)

	require.NoError(t, applyFixtures(t, w, strings.Replace(wholeFixtures, "Calendar App", "Renamed", 1)))
	require.Equal(t, before+1, w.Proposals.Load())
	require.Equal(t, "Renamed", w.View().Client("cal-app").Name)
	require.Len(t, w.View().Client("cal-app").Secrets, 3)
	require.True(t, w.View().User("u-bob").Disabled)
	require.NotNil(t, w.View().ResourceServerNamed("renamed"))
	require.Equal(t, []string{"BOOKING_READ"}, w.View().Publisher("agent.example").Scopes)

	require.NoError(t, applyFixtures(t, w, strings.Replace(wholeFixtures, "correct horse", "battery staple", 1)))
	require.NotEqual(t, hash, w.View().User("u-alice").Password)

	require.NoError(t, applyFixtures(t, w, strings.Replace(wholeFixtures, "[api-secret, 77]", "[77]", 1)))
	api := w.View().ResourceServerNamed("bookings")
	require.Equal(t, 1, api.ActiveSecrets())
	require.True(t, api.Secrets[1].Active(), "a secret in both declarations stays active")
}

// The owner of a client may be a user who is not in the fixtures, but in the cluster.
func TestFixturesOfKnownUsers(t *testing.T) {
	const app = `clients: [{name: App, owner: Carol, type: public, redirect_uris: ["https://a.example/"], scopes: [BOOKING_READ]}]`
	w := admintest.New(t)
	require.EqualError(t, applyFixtures(t, w, app), "fixtures.yaml: line 1: client app: owner is not a user")
	w.Do(&ledger.PutUser{ID: "u_7", Username: "carol"})
	require.NoError(t, applyFixtures(t, w, app))
	require.Equal(t, "u_7", w.View().Client("app").Owner)
}

// If the state refuses the last entry, none of the entries is applied.
func TestFixturesAreAppliedAsAWhole(t *testing.T) {
	w := admintest.New(t)
	require.NoError(t, applyFixtures(t, w, wholeFixtures))
	before := w.Proposals.Load()
	changed := strings.Replace(wholeFixtures, "Alice Example", "Alice Changed", 1)
	changed = strings.Replace(changed, "type: public\n    redirect_uris: [com.example.app:/cb]", "type: confidential\n    redirect_uris: [https://b.example/]", 1)
	require.EqualError(t, applyFixtures(t, w, changed), "fixtures.yaml: line 23: client bob-s-native-app: type never changes")
	require.Equal(t, before, w.Proposals.Load())
	require.Equal(t, "Alice Example", w.View().User("u-alice").Name)

	require.EqualError(t, applyFixtures(t, w, "resource_servers: [{id: \"https://new.example\", name: new}, {id: \"https://other.example\", name: BOOKINGS}]"),
		"fixtures.yaml: line 1: resource server https://other.example: name is taken")
	require.Equal(t, before, w.Proposals.Load())

	w.Do(&ledger.PutUser{ID: "u_9", Username: "dave"})
	before = w.Proposals.Load()
	require.EqualError(t, applyFixtures(t, w, "users: [{username: new}, {username: Dave}]"),
		"fixtures.yaml: line 1: user Dave: username is taken")
	require.Equal(t, before, w.Proposals.Load())
}

// An error names the file, the entry and the field, and never contains a secret.
func TestFixtureErrors(t *testing.T) {
	user := "users: [{username: alice}]\n"
	client := func(fields string) string {
		return user + "clients:\n  - {id: cal-app, name: A, owner: alice, scopes: [BOOKING_READ], redirect_uris: [https://a.example/]" + fields + "}\n"
	}
	for name, test := range map[string]struct{ text, want string }{
		"fragment": {
			user + "clients:\n  - {id: cal-app, name: A, owner: alice, scopes: [BOOKING_READ], redirect_uris: ['https://a.example/#x']}",
			"f.yaml: line 3: client cal-app: redirect_uris[0] must not have a part after #",
		},
		"unknown key":         {client(", colour: red"), `f.yaml: line 3: client cal-app has the unknown key "colour"`},
		"rest of a secret":    {client(", secretword"), "f.yaml: line 3: client cal-app has an unknown key; quote a value that holds a comma or a colon"},
		"unknown top key":     {"user: []", `f.yaml: line 1: the file has the unknown key "user"`},
		"unknown user key":    {"users:\n  - username: alice\n    mail: x", `f.yaml: line 3: user alice has the unknown key "mail"`},
		"unknown setting":     {"settings: {retry: 1s}", `f.yaml: line 1: settings has the unknown key "retry"`},
		"key twice":           {client(", id: b"), `f.yaml: line 3: client cal-app has the key "id" twice`},
		"three secrets":       {client(", secrets: [hunter2-a, hunter2-b, hunter2-c]"), "f.yaml: line 3: client cal-app: secrets has more than 2"},
		"a secret twice":      {client(", secrets: [hunter2], revoked_secrets: [hunter2]"), "f.yaml: line 3: client cal-app: secrets has the same secret twice"},
		"empty secret":        {client(`, secrets: [""]`), "f.yaml: line 3: client cal-app: secrets[0] is empty"},
		"secret as mapping":   {client(", secrets: [{hunter2: x}]"), "f.yaml: line 3: client cal-app: secrets[0] must be a text"},
		"secrets as a text":   {client(", secrets: hunter2"), "f.yaml: line 3: client cal-app: secrets must be a list"},
		"unknown scope":       {strings.Replace(client(""), "BOOKING_READ", "BOOKING_REED", 1), `f.yaml: line 3: client cal-app: scopes[0] is no scope: "BOOKING_REED"`},
		"no scope":            {strings.Replace(client(""), "BOOKING_READ", "", 1), "f.yaml: line 3: client cal-app: scopes needs at least one"},
		"legacy with scopes":  {client(", legacy: true"), "f.yaml: line 3: client cal-app: scopes must be empty for a legacy client: it selects them at its migration"},
		"state":               {client(", state: odd"), "f.yaml: line 3: client cal-app: state must be pending, approved, rejected or suspended"},
		"boolean":             {client(", legacy: perhaps"), "f.yaml: line 3: client cal-app: legacy must be true or false"},
		"secret and secrets":  {client(", secret: hunter2, secrets: [hunter2]"), "f.yaml: line 3: client cal-app: secret is there beside secrets"},
		"no digest":           {client(", secret_sha256: hunter2"), "f.yaml: line 3: client cal-app: secret_sha256 is not a SHA-256 in hexadecimal"},
		"no digest in list":   {client(", secrets_sha256: [hunter2]"), "f.yaml: line 3: client cal-app: secrets_sha256[0] is not a SHA-256 in hexadecimal"},
		"no owner":            {"clients: [{name: A}]", "f.yaml: line 1: client A: owner is missing"},
		"no username":         {"users: [{id: a}]", "f.yaml: line 1: user a: username is missing"},
		"one slug":            {user + "clients:\n" + strings.Repeat("  - {name: A b, owner: alice, scopes: [BOOKING_READ], redirect_uris: [https://a.example/]}\n", 2), "f.yaml: line 4: client a-b: id is that of client a-b in f.yaml, line 3"},
		"one user twice":      {"users: [{username: alice, id: a}, {username: Alice, id: b}]", "f.yaml: line 1: user Alice: username is that of user alice in f.yaml, line 1"},
		"bad e-mail":          {"users: [{username: alice, email: \"a\\u0007b\"}]", "f.yaml: line 1: user alice: email holds a control character"},
		"time format":         {"users: [{username: alice, time_format: 13}]", "f.yaml: line 1: user alice: time_format must be 12 or 24"},
		"number":              {"users: [{username: alice, time_format: noon}]", "f.yaml: line 1: user alice: time_format must be a number"},
		"duration":            {"settings:\n  retry_window: 60", "f.yaml: line 2: settings: retry_window must be a duration such as 60s, 12h or 90d"},
		"bound":               {"settings: {code_lifetime: 700s}", "f.yaml: line 1: settings: code_lifetime must be from 1s to 10m"},
		"algorithm":           {"settings: {algorithm: none}", "f.yaml: line 1: settings: algorithm must be ES256, EdDSA or RS256"},
		"resource without id": {"resource_servers: [{name: api}]", "f.yaml: line 1: resource server api: id is missing"},
		"resource twice":      {"resource_servers: [{id: \"https://a.example\", name: a}, {id: \"https://a.example\", name: b}]", "f.yaml: line 1: resource server https://a.example: id is that of resource server https://a.example in f.yaml, line 1"},
		"resource name twice": {"resource_servers: [{id: \"https://a.example\", name: a}, {id: \"https://b.example\", name: A}]", "f.yaml: line 1: resource server https://b.example: name is that of resource server https://a.example in f.yaml, line 1"},
		"resource URI":        {"resource_servers: [{id: \"http://a.example\", name: a}]", "f.yaml: line 1: resource server http://a.example: id must be https; http is for localhost, 127.0.0.1 and [::1] only"},
		"resource secrets":    {"resource_servers: [{id: \"https://a.example\", name: a, secrets: [hunter2, hunter2]}]", "f.yaml: line 1: resource server https://a.example: secrets has the same secret twice"},
		"resource scope":      {"resource_servers: [{id: \"https://a.example\", name: a, scopes: [NONE]}]", "f.yaml: line 1: resource server https://a.example: scopes[0] is no scope: \"NONE\""},
		"publisher host":      {"publishers: [{scopes: [BOOKING_READ]}]", "f.yaml: line 1: a publisher: host is missing"},
		"publisher twice":     {"publishers: [{host: a.example, scopes: [BOOKING_READ]}, {host: a.example, scopes: [BOOKING_READ]}]", "f.yaml: line 1: publisher a.example: host is that of publisher a.example in f.yaml, line 1"},
		"publisher scope":     {"publishers: [{host: a.example, scopes: [BOOKING_WRITE], default_scopes: [BOOKING_WRITE]}]", "f.yaml: line 1: publisher a.example: default_scopes has a scope that is not for reading only"},
		"resource owner":      {"resource_servers: [{id: \"https://a.example\", name: a, owner: b}]", "f.yaml: line 1: resource server https://a.example has the unknown key \"owner\""},
		"a list":              {"- users", "f.yaml: line 1: the file must be a mapping of keys to values"},
		"two documents":       {"users: []\n---\nusers: []", "f.yaml: line 2: a second YAML document begins"},
		"anchor":              {"users: [{username: alice, password: *hunter2}]", "f.yaml: is not valid YAML: a value that begins with & or * or ! must be quoted"},
		"alias in itself":     {"users: &x [*x]", "f.yaml: line 1: a user must be a mapping of keys to values"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseFixtures("f.yaml", []byte(test.text))
			require.EqualError(t, err, test.want)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
	_, err := loadFixtures(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// An unquoted secret is read as it is spelled, even if YAML would parse it as a number or
// another type.
func TestFixtureSecretsMayBeAnyText(t *testing.T) {
	for _, secret := range []string{"12345", "0012", "1e3", "0x1F", "yes", "null", "~", "true", "2026-11-21", ".inf", "1_000", `"with \" quote"`, "päss wörd"} {
		f, err := ParseFixtures("f", []byte(`{users: [{username: a, password: `+secret+`}],
			clients: [{name: A, owner: a, scopes: [BOOKING_READ], redirect_uris: ["https://a.example/"], secrets: [`+secret+`]}]}`))
		require.NoError(t, err, secret)
		want := secret
		if secret[0] == '"' {
			want = `with " quote`
		}
		require.Equal(t, want, f.Clients[0].Secrets[0].Text.Reveal())
		require.Equal(t, want, f.Users[0].Password.Reveal())
	}
}

func TestEmptyFixtures(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "users:\nclients: []\n", "null"} {
		f, err := ParseFixtures("f", []byte(text))
		require.NoError(t, err, "%q", text)
		require.Empty(t, f.Users)
	}
}

// Any file is either read or refused with an error that names the file.
func FuzzParseFixtures(f *testing.F) {
	f.Add(wholeFixtures)
	f.Add("users: &x [*x]")
	f.Add("a: &a [*a, *a]\nusers: *a")
	f.Add("settings: {retry_window: -1s}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			t.Skip()
		}
		got, err := ParseFixtures("f.yaml", []byte(text))
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "f.yaml: "), err)
			return
		}
		w := admintest.New(t)
		for _, c := range got.Clients {
			if got.User(c.Owner) == nil {
				return // the owner may be in the cluster: ParseFixtures can't know that
			}
		}
		// Fixtures that pass all checks are applied completely, and only once.
		for i := range got.Users {
			got.Users[i].Password = "" // slow
		}
		require.NoError(t, got.apply(t.Context(), depsOf(w)))
		before := w.Proposals.Load()
		require.NoError(t, got.apply(t.Context(), depsOf(w)))
		require.Equal(t, before, w.Proposals.Load())
	})
}

// TestFixtureErrorsKeepSecrets: YAML reads the part of an unquoted password after a comma
// as a key. The error must not print it.
func TestFixtureErrorsKeepSecrets(t *testing.T) {
	_, err := ParseFixtures("f.yaml", []byte("users:\n  - {id: u-a, username: alice, password: correct,horse battery staple}\n"))
	require.ErrorContains(t, err, "unknown key")
	require.NotContains(t, err.Error(), "staple")
}
