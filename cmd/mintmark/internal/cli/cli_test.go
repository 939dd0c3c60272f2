package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A cliEnv is the command line, connected to a ledger in memory.
type cliEnv struct {
	*admintest.Env
	*testkit.CLI
}

// newCLI returns a cliEnv with the user alice and her pending client cal-app.
func newCLI(t *testing.T) *cliEnv {
	t.Helper()
	w := admintest.New(t)
	c := &cliEnv{w, runnerOf(t, w.Serve())}
	c.OK("correct horse\n", "user", "add", "alice", "--id", "u-alice", "--name", "Alice", "--password-file", "-")
	c.OK("", "client", "add", "--id", "cal-app", "--name", "Calendar App", "--owner", "alice",
		"--redirect-uri", "https://cal.example/callback", "--scope", "PROFILE_READ,BOOKING_READ")
	return c
}

// authenticates reports whether a secret is an active secret of the client.
func (c *cliEnv) authenticates(client, secret string) bool {
	s, _ := c.Secret(secret)
	for _, have := range c.View().Client(client).Secrets {
		if have.Active() && have.Digest == s.Digest {
			return true
		}
	}
	return false
}

// Programs rely on the exit codes.
func TestExitCodes(t *testing.T) {
	c := newCLI(t)
	c.OK("", "client", "approve", "cal-app")
	c.Fails(ExitLocal, "unknown flag", "client", "list", "--colour")
	c.Fails(ExitLocal, "--name, --owner, --redirect-uri, --scope are missing", "client", "add")
	c.Fails(ExitLocal, "CLIENT is missing", "client", "show")
	c.Fails(ExitLocal, "--output must be text or json", "client", "list", "-o", "xml")
	c.Fails(ExitLocal, "no such file", "user", "add", "bob", "--password-file", filepath.Join(c.Dir, "none"))
	c.Fails(ExitLocal, "say what to change", "client", "set", "cal-app")
	c.Fails(ExitRefused, "client cal-app: its state does not allow that (state: approved)", "client", "approve", "cal-app")
	c.Fails(ExitRefused, "client cal-app: --name is empty", "client", "set", "cal-app", "--name", "")
	c.Fails(ExitNotFound, "client nobody", "client", "show", "nobody")
	c.Fails(ExitNotFound, "user nobody", "user", "disable", "nobody")
	c.Fails(ExitNotFound, "error_id", "explain", "mme_nonsense")
	c.SetNoLeader(true)
	c.Fails(ExitUnhealthy, "nothing can be decided now", "client", "suspend", "cal-app")
	r := c.Run("", "client", "list")
	require.Equal(t, ExitOK, r.Code)
	require.Contains(t, r.Err, "warning")
	c.Dir = filepath.Join(c.Dir, "elsewhere")
	c.Fails(ExitUnreachable, "no answer at", "client", "list")
}

// A generated secret is the only line of standard output, so that a script can capture
// it.
func TestSecretsOnTheCommandLine(t *testing.T) {
	c := newCLI(t)
	made := c.OK("", "client", "secret", "add", "cal-app")
	secret, rest, _ := strings.Cut(made, "\n")
	require.Empty(t, rest)
	require.True(t, c.authenticates("cal-app", secret))

	asJSON := c.Object("client", "add", "--name", "App", "--owner", "alice", "--redirect-uri", "https://a.example/", "--scope", "BOOKING_READ")
	require.True(t, c.authenticates(asJSON["id"].(string), asJSON["secret"].(string)))

	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("from a file\r\n"), 0o600))
	first := c.View().Client("cal-app").Secrets[0].ID
	c.OK("", "client", "secret", "revoke", "cal-app", first)
	out := c.OK("", "client", "secret", "add", "cal-app", "--secret-file", file)
	require.NotContains(t, out, "from a file")
	require.True(t, c.authenticates("cal-app", "from a file"))

	list := c.OK("", "client", "secret", "list", "cal-app")
	require.Contains(t, list, "revoked")
	require.NotContains(t, list, secret)
	require.Contains(t, list, "…"+secret[len(secret)-4:])

	for name, text := range map[string]string{"empty": "\n", "two lines": "a\nb\n", "too long": strings.Repeat("x", config.MaxSecretFile+1)} {
		r := c.Run(text, "client", "secret", "add", "cal-app", "--secret-file", "-")
		require.Equal(t, ExitLocal, r.Code, name)
	}
}

func TestClientsOnTheCommandLine(t *testing.T) {
	c := newCLI(t)
	require.Regexp(t, `(?m)^cal-app +Calendar App +confidential +scoped +pending +alice `, c.OK("", "client", "list"))
	c.Fails(ExitLocal, "--reason is missing", "client", "reject", "cal-app")
	c.OK("", "client", "reject", "cal-app", "--reason", "no purpose")
	require.Contains(t, c.OK("", "client", "show", "cal-app"), "no purpose")
	require.Equal(t, "rejected", c.Object("client", "show", "cal-app")["state"])

	c.OK("", "client", "add", "--id", "app", "--name", "App", "--owner", "alice", "--type", "public",
		"--redirect-uri", "https://a.example/", "--redirect-uri", "com.example.app:/cb", "--scope", "BOOKING_READ", "--scope", "PROFILE_READ APPS_READ")
	require.Regexp(t, `(?m)^Waiting +for a review since .*, number 1 of 1$`, c.OK("", "client", "show", "app"))
	c.Fails(ExitRefused, "revision: 1", "client", "approve", "app", "--revision", "7")
	c.OK("", "client", "approve", "app", "--revision", "1")
	c.OK("", "client", "suspend", "app")
	require.Contains(t, c.OK("", "client", "resume", "app"), "client app is approved, revision 4")
	app := c.Object("client", "show", "app")
	require.Len(t, app["redirect_uris"], 2)
	require.Len(t, app["scopes"], 3)

	c.OK("", "client", "set", "app", "--redirect-uri", "https://b.example/")
	require.Equal(t, []string{"https://b.example/"}, c.View().Client("app").RedirectURIs)

	old := c.View().Client("app")
	next := old.Profile
	next.Name, next.Scopes = "Better App", []string{"BOOKING_READ", "BOOKING_WRITE"}
	c.Do(&ledger.EditClient{Actor: c.SignIn("u-alice"), ID: "app", Revision: old.Revision, Profile: next})
	shown := c.OK("", "client", "show", "app")
	require.Contains(t, shown, "~ name: App → Better App")
	require.Contains(t, shown, "+ scopes: BOOKING_WRITE")
	require.Regexp(t, `(?m)^Connected +0 users, 0 grants$`, shown)
	require.Regexp(t, `(?m)^Allowed +0 times in the last 30 days, 0 of them by new users$`, shown)
	require.Regexp(t, `(?m)^Refused +0 times in the last 24 hours$`, shown)
	r := c.Run("", "client", "set", "app", "--purpose", "Books things.")
	require.Contains(t, r.Err, "had proposed are dropped")

	add := []string{"client", "add", "--name", "App", "--owner", "alice", "--redirect-uri", "https://a.example/"}
	c.Fails(ExitRefused, `client: --redirect-uri "foo" is not an absolute URI`, append(add, "--scope", "BOOKING_READ", "--redirect-uri", "foo")...)
	c.Fails(ExitRefused, `client: --scope "BOOKING_REED" is no scope (the issuer lists them as scopes_supported at /.well-known/oauth-authorization-server)`, append(add, "--scope", "BOOKING_REED")...)
	c.Fails(ExitLocal, `--state "zz" is no state of a client: there are pending, `, "client", "list", "--state", "zz")

	c.OK("", "client", "delete", "app", "--yes")
	require.NotRegexp(t, `(?m)^app `, c.OK("", "client", "list"))
	require.Regexp(t, `(?m)^app `, c.OK("", "client", "list", "--state", "deleted"))
}

func TestPeopleOnTheCommandLine(t *testing.T) {
	c := newCLI(t)
	password := strings.TrimSuffix(c.OK("", "user", "add", "bob", "--email", "bob@example.com"), "\n")
	bob := c.View().UserByName("bob")
	right, err := c.Passwords.Matches(t.Context(), bob.Password, password)
	require.NoError(t, err)
	require.True(t, right)

	for _, weak := range []string{"elevenchars", "Password1234", "bobbob-12345"} {
		for _, arguments := range [][]string{{"password", "bob"}, {"add", "bobby", "--email", "bob@example.com"}} {
			r := c.Run(weak, slices.Concat([]string{"user"}, arguments, []string{"--password-file", "-"})...)
			require.Equal(t, ExitRefused, r.Code, "%s: %s", weak, r.Err)
			require.NotContains(t, r.Err, weak)
		}
	}
	c.OK("battery staple", "user", "password", "bob", "--password-file", "-")
	c.OK("battery staple", "user", "set-password", "bob", "--password-file", "-")
	c.Fails(ExitLocal, `unknown command "pasword" for "mintmark user"; did you mean password?`, "user", "pasword", "bob", "--password-file", "-")
	c.Fails(ExitLocal, "unknown flag --password", "user", "password", "bob", "--password", "x")
	right, err = c.Passwords.Matches(t.Context(), c.View().UserByName("bob").Password, "battery staple")
	require.NoError(t, err)
	require.True(t, right)

	require.Contains(t, c.OK("", "user", "admin", "bob"), "is an administrator")
	require.Contains(t, c.OK("", "user", "admin", "bob", "--remove"), "is not an administrator")
	require.Contains(t, c.OK("", "user", "list"), "bob@example.com")
	require.Equal(t, []any{"cal-app"}, c.Object("user", "show", "alice")["clients"])

	c.OK("", "client", "approve", "cal-app")
	grant := c.Allow("u-alice", "cal-app", "BOOKING_READ").String()
	c.Fails(ExitLocal, "--user or --client is missing", "grant", "list")
	require.Contains(t, c.OK("", "grant", "list", "--user", "alice"), grant)
	c.OK("", "grant", "revoke", grant)
	require.NotContains(t, c.OK("", "grant", "list", "--client", "cal-app"), grant)
	require.Contains(t, c.OK("", "grant", "list", "--client", "cal-app", "--ended"), "the grant was withdrawn")
	grant = c.Allow("u-alice", "cal-app", "BOOKING_READ").String()
	c.OK("", "grant", "disconnect", "--user", "alice", "--client", "cal-app")
	require.NotContains(t, c.OK("", "grant", "list", "--user", "alice"), grant)

	require.Contains(t, c.OK("", "user", "disable", "bob"), "disabled")
	require.Contains(t, c.OK("", "user", "enable", "bob"), "enabled")
	require.Equal(t, "user bob is signed out everywhere\n", c.OK("", "user", "sign-out", "bob"))
	require.Contains(t, c.OK("", "user", "delete", "bob", "--yes"), "deleted")
	require.Regexp(t, `(?m)user\.state +operator +- +`+bob.ID+` +- +delete$`, c.OK("", "audit", "--kind", "user", "--limit", "1"))
}

func TestExplainOnTheCommandLine(t *testing.T) {
	c := newCLI(t)
	id := c.ErrorID(credential.Cause{
		Code: uint16(ledger.RefreshReused), At: int64(c.Now()), Client: credential.ClientDigest("cal-app"),
		Named: true, Grant: [16]byte{1}, Presented: 4, Due: 6, When: int64(c.Now()),
	})
	out := c.OK("", "explain", id)
	require.Contains(t, out, ledger.RefreshReused.String())
	require.Contains(t, out, "4 was presented, 6 was due")
	require.Contains(t, out, "Calendar App")
	require.InDelta(t, 6, c.Object("explain", id)["generation_due"], 0)
}

// TestExplainThrottled: for a request that was refused unchecked, since its secret may be
// a guess, explain shows what to do: for clients and for resource servers.
func TestExplainThrottled(t *testing.T) {
	c := newCLI(t)
	c.Do(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: "https://api.example", Name: "api"})
	for sent, advice := range map[string]map[ledger.Cause]string{
		"cal-app":             {ledger.Throttled: "mintmark client secret add CLIENT", ledger.SecretKeyDropped: "mintmark client secret add CLIENT"},
		"api":                 {ledger.Throttled: "mintmark resource-server secret add", ledger.SecretKeyDropped: "mintmark resource-server secret revoke"},
		"https://api.example": {ledger.Throttled: "imported"},
	} {
		for cause, says := range advice {
			id := c.ErrorID(credential.Cause{Code: uint16(cause), At: int64(c.Now()), Client: credential.ClientDigest(sent)})
			r := c.Run("", "explain", id)
			require.Contains(t, r.Err, says, sent)
			require.Equal(t, sent != "cal-app", strings.Contains(r.Out, "https://api.example"), r.Out)
			require.NotContains(t, r.Out, "none that is known")
		}
	}
}

func TestCompletionOffersClients(t *testing.T) {
	c := newCLI(t)
	var out bytes.Buffer
	root := testRoot()
	root.SetArgs([]string{"__complete", "client", "--data-dir", c.Dir, "show", ""})
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	require.NoError(t, root.Execute())
	require.Contains(t, out.String(), "cal-app\tCalendar App\n")
}
