package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A cliEnv is the command line in front of a ledger in memory.
type cliEnv struct {
	*admintest.Env
	t   *testing.T
	dir string // data directory
}

// newCLI has the user alice and her pending client cal-app.
func newCLI(t *testing.T) *cliEnv {
	t.Helper()
	w := admintest.New(t)
	c := &cliEnv{w, t, w.Serve()}
	c.ok("correct horse\n", "user", "add", "alice", "--id", "u-alice", "--name", "Alice", "--password-file", "-")
	c.ok("", "client", "add", "--id", "cal-app", "--name", "Calendar App", "--owner", "alice",
		"--redirect-uri", "https://cal.example/callback", "--scope", "PROFILE_READ,BOOKING_READ")
	return c
}

// A cliResult is what a program sees of a command.
type cliResult struct {
	out, err string
	code     int
}

// run executes one command line as main does.
func (c *cliEnv) run(stdin string, args ...string) cliResult {
	c.t.Helper()
	var out, remarks bytes.Buffer
	root := rootCommand()
	root.SetArgs(append(args, "--data-dir", c.dir))
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&remarks)
	err := root.ExecuteContext(c.t.Context())
	if err != nil {
		remarks.WriteString(err.Error() + "\n")
	}
	return cliResult{out.String(), remarks.String(), exitCode(err)}
}

// ok runs a command that must work and returns its standard output.
func (c *cliEnv) ok(stdin string, args ...string) string {
	c.t.Helper()
	r := c.run(stdin, args...)
	require.Equal(c.t, exitOK, r.code, "%v: %s", args, r.err)
	return r.out
}

// fails runs a command that must end with a code and say so.
func (c *cliEnv) fails(code int, text string, args ...string) {
	c.t.Helper()
	r := c.run("", args...)
	require.Equal(c.t, code, r.code, "%v: %s", args, r.err)
	require.Contains(c.t, r.err, text)
	require.Empty(c.t, r.out)
}

func (c *cliEnv) object(args ...string) map[string]any {
	c.t.Helper()
	var m map[string]any
	require.NoError(c.t, json.Unmarshal([]byte(c.ok("", append(args, "-o", "json")...)), &m))
	return m
}

// authenticates reports whether a secret is one of a client's active ones.
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
	c.ok("", "client", "approve", "cal-app")
	c.fails(exitLocal, "unknown flag", "client", "list", "--colour")
	c.fails(exitLocal, "required flag", "client", "add")
	c.fails(exitLocal, "accepts 1 arg", "client", "show")
	c.fails(exitLocal, "--output must be text or json", "client", "list", "-o", "xml")
	c.fails(exitLocal, "no such file", "user", "add", "bob", "--password-file", filepath.Join(c.dir, "none"))
	c.fails(exitLocal, "say what to change", "client", "set", "cal-app")
	c.fails(exitRefused, "client cal-app: its state does not allow that (state: approved)", "client", "approve", "cal-app")
	c.fails(exitRefused, "client cal-app: name is empty", "client", "set", "cal-app", "--name", "")
	c.fails(exitNotFound, "client nobody", "client", "show", "nobody")
	c.fails(exitNotFound, "user nobody", "user", "disable", "nobody")
	c.fails(exitNotFound, "error_id", "explain", "mme_nonsense")
	c.SetNoLeader(true)
	c.fails(exitUnhealthy, "nothing can be decided now", "client", "suspend", "cal-app")
	r := c.run("", "client", "list")
	require.Equal(t, exitOK, r.code)
	require.Contains(t, r.err, "warning")
	c.dir = filepath.Join(c.dir, "elsewhere")
	c.fails(exitUnreachable, "no answer at", "client", "list")
}

// A script captures a secret that was made as the one line of standard output.
func TestSecretsOnTheCommandLine(t *testing.T) {
	c := newCLI(t)
	made := c.ok("", "client", "secret", "add", "cal-app")
	secret, rest, _ := strings.Cut(made, "\n")
	require.Empty(t, rest)
	require.True(t, c.authenticates("cal-app", secret))

	asJSON := c.object("client", "add", "--name", "App", "--owner", "alice", "--redirect-uri", "https://a.example/", "--scope", "BOOKING_READ")
	require.True(t, c.authenticates(asJSON["id"].(string), asJSON["secret"].(string)))

	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("from a file\r\n"), 0o600))
	first := c.View().Client("cal-app").Secrets[0].ID
	c.ok("", "client", "secret", "revoke", "cal-app", first)
	out := c.ok("", "client", "secret", "add", "cal-app", "--secret-file", file)
	require.NotContains(t, out, "from a file")
	require.True(t, c.authenticates("cal-app", "from a file"))

	list := c.ok("", "client", "secret", "list", "cal-app")
	require.Contains(t, list, "revoked")
	require.NotContains(t, list, secret)
	require.Contains(t, list, "…"+secret[len(secret)-4:])

	for name, text := range map[string]string{"empty": "\n", "two lines": "a\nb\n", "too long": strings.Repeat("x", maxSecretFile+1)} {
		r := c.run(text, "client", "secret", "add", "cal-app", "--secret-file", "-")
		require.Equal(t, exitLocal, r.code, name)
	}
}

func TestClientsOnTheCommandLine(t *testing.T) {
	c := newCLI(t)
	require.Regexp(t, `(?m)^cal-app +Calendar App +confidential +scoped +pending +alice `, c.ok("", "client", "list"))
	c.fails(exitLocal, "required flag", "client", "reject", "cal-app")
	c.ok("", "client", "reject", "cal-app", "--reason", "no purpose")
	require.Contains(t, c.ok("", "client", "show", "cal-app"), "no purpose")
	require.Equal(t, "rejected", c.object("client", "show", "cal-app")["state"])

	c.ok("", "client", "add", "--id", "app", "--name", "App", "--owner", "alice", "--type", "public",
		"--redirect-uri", "https://a.example/", "--redirect-uri", "com.example.app:/cb", "--scope", "BOOKING_READ", "--scope", "PROFILE_READ APPS_READ")
	c.fails(exitRefused, "revision: 1", "client", "approve", "app", "--revision", "7")
	c.ok("", "client", "approve", "app", "--revision", "1")
	c.ok("", "client", "suspend", "app")
	require.Contains(t, c.ok("", "client", "resume", "app"), "client app is approved, revision 4")
	app := c.object("client", "show", "app")
	require.Len(t, app["redirect_uris"], 2)
	require.Len(t, app["scopes"], 3)

	c.ok("", "client", "set", "app", "--redirect-uri", "https://b.example/")
	require.Equal(t, []string{"https://b.example/"}, c.View().Client("app").RedirectURIs)

	old := c.View().Client("app")
	next := old.Profile
	next.Name, next.Scopes = "Better App", []string{"BOOKING_READ", "BOOKING_WRITE"}
	c.Do(&ledger.EditClient{Actor: c.SignIn("u-alice"), ID: "app", Revision: old.Revision, Profile: next})
	shown := c.ok("", "client", "show", "app")
	require.Contains(t, shown, "~ name: App → Better App")
	require.Contains(t, shown, "+ scopes: BOOKING_WRITE")
	r := c.run("", "client", "set", "app", "--purpose", "Books things.")
	require.Contains(t, r.err, "had proposed are dropped")

	c.ok("", "client", "delete", "app")
	require.NotRegexp(t, `(?m)^app `, c.ok("", "client", "list"))
	require.Regexp(t, `(?m)^app `, c.ok("", "client", "list", "--state", "deleted"))
}

func TestPeopleOnTheCommandLine(t *testing.T) {
	c := newCLI(t)
	password := strings.TrimSuffix(c.ok("", "user", "add", "bob", "--email", "bob@example.com"), "\n")
	bob := c.View().UserByName("bob")
	right, err := credential.CheckPassword(bob.Password, password)
	require.NoError(t, err)
	require.True(t, right)

	for _, weak := range []string{"elevenchars", "Password1234", "bobbob-12345"} {
		for _, arguments := range [][]string{{"password", "bob"}, {"add", "bobby", "--email", "bob@example.com"}} {
			r := c.run(weak, slices.Concat([]string{"user"}, arguments, []string{"--password-file", "-"})...)
			require.Equal(t, exitRefused, r.code, "%s: %s", weak, r.err)
			require.NotContains(t, r.err, weak)
		}
	}
	c.ok("battery staple", "user", "password", "bob", "--password-file", "-")
	c.ok("battery staple", "user", "set-password", "bob", "--password-file", "-")
	c.fails(exitLocal, `unknown command "pasword" for "mintmark user"; did you mean password?`, "user", "pasword", "bob", "--password-file", "-")
	c.fails(exitLocal, "unknown flag: --password", "user", "password", "bob", "--password", "x")
	right, err = credential.CheckPassword(c.View().UserByName("bob").Password, "battery staple")
	require.NoError(t, err)
	require.True(t, right)

	require.Contains(t, c.ok("", "user", "admin", "bob"), "is an administrator")
	require.Contains(t, c.ok("", "user", "admin", "bob", "--remove"), "is not an administrator")
	require.Contains(t, c.ok("", "user", "list"), "bob@example.com")
	require.Equal(t, []any{"cal-app"}, c.object("user", "show", "alice")["clients"])

	c.ok("", "client", "approve", "cal-app")
	grant := c.Allow("u-alice", "cal-app", "BOOKING_READ").String()
	c.fails(exitLocal, "at least one of the flags", "grant", "list")
	require.Contains(t, c.ok("", "grant", "list", "--user", "alice"), grant)
	c.ok("", "grant", "revoke", grant)
	require.NotContains(t, c.ok("", "grant", "list", "--client", "cal-app"), grant)
	require.Contains(t, c.ok("", "grant", "list", "--client", "cal-app", "--ended"), "the grant was withdrawn")
	grant = c.Allow("u-alice", "cal-app", "BOOKING_READ").String()
	c.ok("", "grant", "disconnect", "--user", "alice", "--client", "cal-app")
	require.NotContains(t, c.ok("", "grant", "list", "--user", "alice"), grant)

	require.Contains(t, c.ok("", "user", "disable", "bob"), "disabled")
	require.Contains(t, c.ok("", "user", "enable", "bob"), "enabled")
	require.Contains(t, c.ok("", "user", "delete", "bob"), "deleted")
	require.Regexp(t, `(?m)user\.state +operator +- +`+bob.ID+` +- +delete$`, c.ok("", "audit", "--kind", "user", "--limit", "1"))
}

func TestExplainOnTheCommandLine(t *testing.T) {
	c := newCLI(t)
	id := c.ErrorID(credential.Cause{
		Code: uint16(ledger.RefreshReused), At: int64(c.Now()), Client: credential.ClientDigest("cal-app"),
		Named: true, Grant: [16]byte{1}, Presented: 4, Due: 6, When: int64(c.Now()),
	})
	out := c.ok("", "explain", id)
	require.Contains(t, out, ledger.RefreshReused.String())
	require.Contains(t, out, "4 was presented, 6 was due")
	require.Contains(t, out, "Calendar App")
	require.InDelta(t, 6, c.object("explain", id)["generation_due"], 0)
}

func TestCompletionOffersClients(t *testing.T) {
	c := newCLI(t)
	var out bytes.Buffer
	root := rootCommand()
	root.SetArgs([]string{"__complete", "client", "--data-dir", c.dir, "show", ""})
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	require.NoError(t, root.Execute())
	require.Contains(t, out.String(), "cal-app\tCalendar App\n")
}
