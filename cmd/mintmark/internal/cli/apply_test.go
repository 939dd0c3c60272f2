package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestApply runs the scenarios of testdata/apply. A line "-- NAME MODE --" begins a file,
// "$ ARGUMENTS" runs a command, and "% allow USER CLIENT SCOPE [RESOURCE_SERVER]", "% edit USER CLIENT NAME",
// "% document USER URL" and "% agent USER URL" are what users do. Each ends at an empty line. Below
// a command are its standard output, its standard error behind "! ", and its exit code.
// -update rewrites the results.
func TestApply(t *testing.T) {
	paths, err := filepath.Glob("testdata/apply/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			absolute, err := filepath.Abs(path)
			require.NoError(t, err)
			got := playApply(t, string(text))
			if *update {
				require.NoError(t, os.WriteFile(absolute, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got, "see the difference, then: go test ./cmd/mintmark/internal/cli -run TestApply -update")
		})
	}
}

var fileHeading = regexp.MustCompile(`^-- (\S+)(?: (0[0-7]+))? --$`)

func playApply(t *testing.T, text string) string {
	c := newCLI(t)
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://id.example", "https://id.example", "https://id.example"
	c.Do(&ledger.Configure{Settings: s})
	t.Chdir(t.TempDir())
	var out []string
	for _, block := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		first, rest, _ := strings.Cut(block, "\n")
		switch {
		case fileHeading.MatchString(first):
			m := fileHeading.FindStringSubmatch(first)
			mode, err := strconv.ParseUint("0"+strings.TrimPrefix(m[2], "0"), 8, 32)
			require.NoError(t, err)
			if m[2] == "" {
				mode = 0o644
			}
			require.NoError(t, os.WriteFile(m[1], []byte(rest+"\n"), 0o600))
			require.NoError(t, os.Chmod(m[1], fs.FileMode(mode)))
		case strings.HasPrefix(first, "$ "):
			block = first + "\n" + c.shown(strings.Fields(strings.TrimPrefix(first, "$ ")))
		case strings.HasPrefix(first, "% "):
			c.userDoes(strings.Fields(strings.TrimPrefix(first, "% ")))
		}
		out = append(out, strings.TrimRight(block, "\n"))
	}
	return strings.Join(out, "\n\n") + "\n"
}

var localTime = regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d\b`)

var randomText = regexp.MustCompile(`\b(s|u|c)_[0-9a-z]{16,}`)

func (c *cliEnv) shown(args []string) string {
	r := c.Run("", args...)
	var b strings.Builder
	b.WriteString(r.Out)
	for line := range strings.Lines(r.Err) {
		b.WriteString("! " + line)
	}
	if r.Code != ExitOK {
		fmt.Fprintf(&b, "exit code %d\n", r.Code)
	}
	return localTime.ReplaceAllString(randomText.ReplaceAllString(b.String(), "${1}_…"), "DATE")
}

func (c *cliEnv) userDoes(words []string) {
	switch words[0] {
	case "allow":
		c.Allow(words[1], words[2], words[3], words[4:]...)
	case "edit":
		old := c.View().Client(words[2])
		next := old.Profile
		next.Name = words[3]
		c.Do(&ledger.EditClient{Actor: c.SignIn(words[1]), ID: words[2], Revision: old.Revision, Profile: next})
	case "document":
		c.Do(&ledger.NoteDocument{Actor: c.SignIn(words[1]), URL: words[2], Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/cb"}})
	case "agent":
		c.Do(&ledger.Allow{
			Actor: c.SignIn(words[1]), User: words[1], Grant: ledger.GrantID{1}, Revision: c.View().ClientNamed(words[2]).Revision,
			Request: oauth.AuthorizationRequest{
				ClientID: words[2], RedirectURI: "http://127.0.0.1/cb", CodeChallenge: strings.Repeat("A", 43),
			},
		})
	default:
		require.Fail(c.T, "unknown deed", "%v", words)
	}
}

// TestApplyKeepsSecrets: no output, no log and no audit event has a secret or a password.
func TestApplyKeepsSecrets(t *testing.T) {
	c := newCLI(t)
	dir := t.TempDir()
	secret, password := "hidden-secret-0123456789", "hidden lantern under oak"
	file := filepath.Join(dir, "clients.yaml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s"), []byte(secret), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p"), []byte(password), 0o600))
	require.NoError(t, os.WriteFile(file, []byte(`
users: [{username: ada, password_file: p}]
clients: [{id: app, name: App, owner: ada, redirect_uris: ["https://a.example/"], scopes: [BOOKING_READ], secret_file: s}]
`), 0o644))
	var all strings.Builder
	for _, args := range [][]string{
		{"apply", "-f", file, "--dry-run"},
		{"apply", "-f", file, "--dry-run", "-o", "json"},
		{"apply", "-f", file, "--yes"},
		{"audit", "--limit", "100"},
		{"export"},
		{"client", "show", "app"},
	} {
		r := c.Run("", args...)
		all.WriteString(r.Out + r.Err)
	}
	all.WriteString(c.Log.String())
	require.True(t, c.authenticates("app", secret))
	for _, hidden := range []string{"hidden", sha256Hex(secret)} {
		require.NotContains(t, all.String(), hidden)
	}
	require.Contains(t, all.String(), "client.applied")
}
