package declare_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const client = `{id: app, name: App, owner: alice, redirect_uris: ["https://app.example/cb"], scopes: [PROFILE_READ], `

// TestSecretsOfFiles: the path of a secret file is relative to the file that names it.
// The line break at its end is not part of the secret.
func TestSecretsOfFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "secrets"), 0o700))
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	write("secrets/one", "first\r\n", 0o600)
	write("secrets/two", "second", 0o600)
	write("exposed", "third", 0o640)
	sum := strings.Repeat("0f", sha256.Size)
	file := write("clients.yaml", "users: [{username: alice, password_file: secrets/two}]\n"+
		"clients:\n  - "+client+"secret_files: [secrets/one, secrets/two], secret_sha256: "+sum+"}\n", 0o644)
	d, err := declare.Disk(t.Context(), nil).Files(file)
	require.NoError(t, err)
	require.Equal(t, "second", d.Users[0].Password.Reveal())
	secrets := d.Clients[0].Secrets
	require.Len(t, secrets, 3)
	require.Equal(t, sha256.Sum256([]byte("first")), secrets[0].Sum())
	require.Equal(t, "secret_files[1]", secrets[1].Field)
	require.Equal(t, byte(0x0f), secrets[2].Sum()[31])
	require.True(t, d.Clients[0].Place.NamesSecrets())

	for name, test := range map[string]struct{ text, want string }{
		"exposed secret": {"clients:\n  - " + client + "secret_file: exposed}", "line 2: client app: secret_file can't be used: others can read"},
		"no such file":   {"clients:\n  - " + client + "secret_file: TODO}", "no such file"},
		"in clear":       {"clients:\n  - " + client + "secret: hunter2}", "line 2: client app: secret is in clear: others can read"},
		"password":       {"users:\n  - {username: bob, password: hunter2}", "line 2: user bob: password is in clear"},
		"resource's":     {"resource_servers:\n  - {id: 'https://a.example', name: a, secret: hunter2}", "line 2: resource server https://a.example: secret is in clear: others can read"},
		"two passwords":  {"users:\n  - {username: bob, password: hunter2, password_file: exposed}", "password_file is there beside password"},
		"a hash":         {"users:\n  - {username: bob, password_hash: $2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e}", "line 2: user bob: password_hash can be guessed at"},
		"a hostile hash": {"users:\n  - {username: bob, password_hash: $2a$31$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e}", "line 2: user bob: password_hash asks for 31 as the cost of bcrypt: at most 14 are accepted"},
		"secret's hash":  {"clients:\n  - " + client + "secret_hash: $2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e}", "line 2: client app: secret_hash can be guessed at"},
		"hostile secret": {"clients:\n  - " + client + "secret_hashes: [\"$scrypt$ln=20,r=8,p=1$hunter2$hunter2\"]}", "line 2: client app: secret_hashes[0] asks for 1048576 KiB of memory"},
		"hash, password": {"users:\n  - {username: bob, password_hash: x, password_file: exposed}", "password_hash is there beside a password"},
		"nothing to set": {"users:\n  - {username: bob, reset_password: true}", "reset_password needs a password_file"},
	} {
		_, err := declare.Disk(t.Context(), nil).Files(write("bad.yaml", test.text, 0o644))
		require.ErrorContains(t, err, test.want, name)
		require.NotContains(t, err.Error(), "hunter2", name)
	}
	private := write("private.yaml", "clients:\n  - "+client+"secret: hunter2}", 0o600)
	d, err = declare.Disk(t.Context(), strings.NewReader("users: [{username: carol, password: hunter2}]")).Files(private, declare.Stdin)
	require.NoError(t, err)
	require.Equal(t, "hunter2", d.Clients[0].Secrets[0].Text.Reveal())
	require.Equal(t, "carol", d.Users[0].Username)

	hashes := write("hashes.yaml", "clients:\n  - "+client+"secret_hash: $2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e}", 0o600)
	d, err = declare.Disk(t.Context(), nil).Files(hashes)
	require.NoError(t, err)
	require.NoError(t, d.Check(ledger.DefaultSettings()))
	require.True(t, d.Clients[0].Place.NamesSecrets())
	require.Equal(t, "secret_hash", d.Clients[0].Secrets[0].Field)
	require.Zero(t, d.Clients[0].Secrets[0].Declared().SHA256)
}

// TestReadingEndsWithTheContext: reading from a pipe without a writer can be interrupted.
func TestReadingEndsWithTheContext(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	stdin, w := io.Pipe()
	defer func() { _ = w.Close() }()
	for _, path := range []string{pipe, declare.Stdin} {
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		_, err := declare.Disk(ctx, stdin).Files(path)
		require.ErrorIs(t, err, context.Canceled)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // ends the goroutine that opens it
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// TestWriteReadsBack: a written declaration is read back unchanged, whatever texts its
// fields have.
func TestWriteReadsBack(t *testing.T) {
	text := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"yes", "0012", "null", "~", "# no", "a: b", "- x", "with ' and \"", "two\nlines\n", " space ", "é", "{", "!tag", "&a", "*a", "%", "@", "`", "a #b", "a:", ":a", "1_000", "=", "<<"}),
	).Filter(func(s string) bool { return !strings.ContainsAny(s, "\r\x00\ufeff") && s == strings.ToValidUTF8(s, "") })
	rapid.Check(t, func(r *rapid.T) {
		named := text.Filter(func(s string) bool { return s != "" })
		want := &declare.Declaration{
			Users: []declare.User{{ID: "u-1", Username: named.Draw(r, "username"), Admin: rapid.Bool().Draw(r, "admin"), Person: ledger.Person{
				Name: text.Draw(r, "name"), Bio: text.Draw(r, "bio"), TimeFormat: rapid.SampledFrom([]int{0, 12, 24}).Draw(r, "format"),
			}}},
			Clients: []declare.Client{{
				ID: named.Draw(r, "id"), Name: named.Draw(r, "client"), Owner: named.Draw(r, "owner"), Purpose: text.Draw(r, "purpose"),
				Type: rapid.SampledFrom([]string{"confidential", "public"}).Draw(r, "type"), State: rapid.SampledFrom([]string{"", "pending"}).Draw(r, "state"),
				RedirectURIs: rapid.SliceOfN(text, 1, 3).Draw(r, "uris"), Scopes: []string{"PROFILE_READ"}, Legacy: rapid.Bool().Draw(r, "legacy"),
				Comment: "a comment\nof two lines",
			}},
			ResourceServers: []declare.ResourceServer{{
				ID: named.Draw(r, "uri"), Name: named.Draw(r, "resource"), Scopes: rapid.SampledFrom([][]string{nil, {"PROFILE_READ"}}).Draw(r, "scopes"),
				Comment: "a comment",
			}},
			Settings: declare.Settings{Values: map[string]string{"rotate_every": "off", "code_lifetime": "1m"}},
		}
		var b bytes.Buffer
		require.NoError(r, want.Write(&b, "head"))
		got, err := declare.Reader{}.Text("f.yaml", b.Bytes())
		require.NoError(r, err, b.String())
		got.Users[0].Place, got.Clients[0].Place = declare.Place{}, declare.Place{}
		want.Clients[0].Comment, want.ResourceServers[0].Comment = "", ""
		got.ResourceServers[0].Place = declare.Place{}
		require.Equal(r, want.Users, got.Users, b.String())
		require.Equal(r, want.Clients, got.Clients, b.String())
		require.Equal(r, want.ResourceServers, got.ResourceServers, b.String())
		require.Equal(r, want.Settings.Values, got.Settings.Values, b.String())
	})
}

// TestWriteNothing: an empty declaration is written as a valid file.
func TestWriteNothing(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, (&declare.Declaration{}).Write(&b, "nothing"))
	d, err := declare.Reader{}.Text("f.yaml", b.Bytes())
	require.NoError(t, err)
	require.Empty(t, slices.Concat(d.Clients))
	require.Contains(t, b.String(), "# nothing\n")
}
