package cli

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func legacyLine(id, secret string) string {
	return `{"id":"` + id + `","name":"Old App","owner":"alice","redirect_uris":["https://old.example/cb"],"secret":"` + secret + `"}`
}

// A line with an error is reported and changes nothing. The other lines are imported.
func TestImport(t *testing.T) {
	c := newCLI(t)
	sum := sha256.Sum256([]byte("exported"))
	lines := strings.Join([]string{
		"\ufeff" + legacyLine("one", "first-secret-of-one"),
		"",
		`{"id":"two","name":"Two","owner":"nobody","redirect_uris":["https://old.example/cb"],"secret":"hidden-secret-two"}`,
		`{"id":"three","nmae":"Three","secret":"hidden-secret-three"}`,
		`{"id":"four","secret":"hidden-secret-four"`,
		`{"id":"five","name":"` + strings.Repeat("x", maxImportLine) + `"}`,
		`{"id":"six","name":"Six","owner":"u-alice","redirect_uris":["https://old.example/cb"],"secret_sha256":"` + hex.EncodeToString(sum[:]) + "\"}\r",
	}, "\n")
	file := filepath.Join(t.TempDir(), "legacy.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(lines), 0o600))

	r := c.Run("", "client", "import", file)
	require.Equal(t, ExitRefused, r.Code)
	require.Equal(t, "line 1: client one: imported\nline 7: client six: imported\n", r.Out)
	require.Contains(t, r.Err, "line 3: client two: owner is not a user\n")
	require.Contains(t, r.Err, "line 4: \"nmae\" is not known\n")
	require.Contains(t, r.Err, "line 5: is not one JSON object\n")
	require.Contains(t, r.Err, "line 6: is longer than 65536 bytes\n")
	require.Contains(t, r.Err, "4 of 6 lines were refused")
	require.NotContains(t, r.Out+r.Err+c.Log.String(), "hidden-secret")
	require.True(t, c.authenticates("one", "first-secret-of-one"))
	require.True(t, c.authenticates("six", "exported"))
	for _, id := range []string{"two", "three", "four", "five"} {
		require.Nil(t, c.View().Client(id), id)
	}

	before := c.Proposals.Load()
	r = c.Run(legacyLine("one", "first-secret-of-one"), "client", "import", "-", "-o", "json")
	require.Equal(t, ExitOK, r.Code)
	require.JSONEq(t, `{"line":1,"id":"one","result":"unchanged",
		"warning":"a secret has less than 128 bits: have the owner generate a new secret, and revoke this one"}`, r.Out)
	require.Equal(t, before, c.Proposals.Load())
}

// Hashes of another system are imported, except those that are too expensive to verify.
// No output repeats a hash.
func TestImportOfHashes(t *testing.T) {
	c := newCLI(t)
	line := func(id, hash string) string {
		return `{"id":"` + id + `","name":"Old App","owner":"alice","redirect_uris":["https://old.example/cb"],"secret_hash":"` + hash + `"}` + "\n"
	}
	const hash = "$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
	r := c.Run(line("one", hash)+line("two", strings.Replace(hash, "$04$", "$20$", 1))+line("three", "hidden-secret"), "client", "import", "-")
	require.Equal(t, ExitRefused, r.Code)
	require.Contains(t, r.Out, "line 1: client one: imported\n")
	require.Contains(t, r.Err, "line 2: client two: secret_hashes[0] asks for 20 as the cost of bcrypt: at most 14 are accepted\n")
	require.Contains(t, r.Err, "line 3: client three: secret_hashes[0] is not a hash of a supported format\n")
	require.Equal(t, hash, c.View().Client("one").Secrets[0].Hash)
	shown := c.Run("", "client", "show", "one")
	require.Contains(t, shown.Out, "active, imported and not used yet")
	all := r.Out + r.Err + shown.Out + c.Log.String() + c.Run("", "client", "show", "one", "-o", "json").Out + c.Run("", "export").Out
	require.NotContains(t, all, "abcdefghijklmnopqrstuu")
	require.NotContains(t, all, "hidden-secret")

	user := filepath.Join(t.TempDir(), "hash")
	require.NoError(t, os.WriteFile(user, []byte(hash+"\n"), 0o600))
	r = c.Run("", "user", "add", "kim", "--password-hash-file", user)
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.Contains(t, r.Out, "user kim created")
	shown = c.Run("", "user", "show", "kim")
	require.Contains(t, shown.Out, "imported, until the next sign-in")
	require.NotContains(t, shown.Out+r.Out+r.Err+c.Run("", "user", "list", "-o", "json").Out+c.Run("", "audit", "list").Out, "abcdefghijklmnopqrstuu")
	require.NotEqual(t, ExitOK, c.Run("x", "user", "add", "lee", "--password-hash-file", user, "--password-file", "-").Code)
}

// If others can read the file, the import ends at the first line with a secret or a hash,
// and doesn't send that line. SHA-256 digests may be readable by others.
func TestImportRefusesSecretsThatOthersCanRead(t *testing.T) {
	c := newCLI(t)
	digest := strings.Repeat("ab", sha256.Size)
	digests := `{"id":"zero","name":"Zero","owner":"alice","redirect_uris":["https://old.example/cb"],"secret_sha256":"` + digest + "\"}\n"
	for name, line := range map[string]string{
		"secret":          legacyLine("one", "hidden-secret-one"),
		"secrets":         `{"id":"one","name":"One","owner":"alice","redirect_uris":["https://old.example/cb"],"secrets":["hidden-secret-one"]}`,
		"a hash":          `{"id":"one","name":"One","owner":"alice","redirect_uris":["https://old.example/cb"],"secret_hashes":["$2a$04$hidden-secret"]}`,
		"in a bad line":   `{"id":"one","secret":"hidden-secret-one","nmae":"One"}`,
		"beside a digest": `{"id":"one","name":"One","owner":"alice","redirect_uris":["https://old.example/cb"],"secret_sha256":"` + digest + `","secret":"hidden-secret-one"}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "legacy.jsonl")
			require.NoError(t, os.WriteFile(file, []byte(digests+line+"\n"+strings.ReplaceAll(digests, "zero", "two")), 0o600))
			require.NoError(t, os.Chmod(file, 0o644))
			r := c.Run("", "client", "import", file)
			require.Equal(t, ExitLocal, r.Code)
			require.Contains(t, r.Out, "line 1: client zero: ")
			require.Contains(t, r.Err, "line 2: others can read "+file)
			require.Contains(t, r.Err, "chmod 600")
			require.NotContains(t, r.Out+r.Err, "hidden-secret")
			require.Nil(t, c.View().Client("one"))
			require.Nil(t, c.View().Client("two"), "no later line is imported")
		})
	}
}

// If the server is unavailable, the import stops at the first line: all others would fail
// too.
func TestImportStopsWithoutAServer(t *testing.T) {
	c := newCLI(t)
	c.SetNoLeader(true)
	r := c.Run(legacyLine("one", "s")+"\n"+legacyLine("two", "s"), "client", "import", "-")
	require.Equal(t, ExitUnhealthy, r.Code)
	require.Contains(t, r.Err, "line 1: nothing can be decided now")
	require.NotContains(t, r.Err, "line 2")
}

// Control characters in a file must not reach the operator's terminal.
func TestImportShowsControlCharacters(t *testing.T) {
	c := newCLI(t)
	r := c.Run(legacyLine(`a\u001b[2Jb`, "s"), "client", "import", "-")
	require.Equal(t, ExitRefused, r.Code)
	require.Contains(t, r.Err, "client a\ufffd[2Jb: id may hold")
	require.NotContains(t, r.Out+r.Err, "\x1b")
}

func TestParseLegacyClient(t *testing.T) {
	got, err := parseLegacyClient([]byte(`{"id":"a","name":"A","type":null,"owner":"o","purpose":"p","website":"https://w.example","privacy_url":"https://w.example/p","terms_url":"https://w.example/t",
		"redirect_uris":["https://x.example/"],"secret":"one","secrets":["two"],"secret_sha256":"aa","secrets_sha256":["bb"]}`))
	require.NoError(t, err)
	require.Equal(t, admin.LegacyClient{
		ID: "a", Name: "A", Type: "confidential", Owner: "o", Purpose: "p", Website: "https://w.example",
		PrivacyURL: "https://w.example/p", TermsURL: "https://w.example/t",
		RedirectURIs: []string{"https://x.example/"},
		Secrets:      []admin.Plain{"one", "two"}, SecretsSHA256: []admin.Plain{"aa", "bb"},
	}, got)

	for name, test := range map[string]struct{ line, text string }{
		"empty":            {``, "is not one JSON object"},
		"list":             {`[]`, "is not one JSON object"},
		"text behind it":   {`{"id":"a"} x`, "is not one JSON object"},
		"no id":            {`{}`, "id is missing"},
		"another case":     {`{"ID":"a"}`, `"ID" is not known`},
		"twice":            {`{"id":"a","id":"b"}`, `"id" is there twice`},
		"twice by escape":  {`{"id":"a","\u0069d":"b"}`, `"id" is there twice`},
		"number as secret": {`{"id":"a","secret":12345}`, "secret is not a string"},
		"number in a list": {`{"id":"a","secrets":["x",12345]}`, "secrets[1] is not a string"},
		"secret as a list": {`{"id":"a","secret":["x"]}`, "secret is not a string"},
		"half a character": {`{"id":"a","secret":"\ud800x"}`, "secret holds a character that is not Unicode"},
		"not UTF-8":        {"{\"id\":\"a\",\"secret\":\"\xff\"}", "is not UTF-8"},
		"scopes":           {`{"id":"a","scopes":["BOOKING_READ"]}`, `"scopes" is not known`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseLegacyClient([]byte(test.line))
			require.EqualError(t, err, test.text)
		})
	}
}

func TestLineReader(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string // "!" for a line that is too long
	}{
		"nothing":                  {"", []string{""}},
		"no end":                   {"a\nb", []string{"a", "b"}},
		"an end":                   {"a\nb\n", []string{"a", "b", ""}},
		"long in the middle":       {"a\n" + strings.Repeat("x", 100) + "\nb", []string{"a", "!", "b"}},
		"long at the end":          {"a\n" + strings.Repeat("x", 100), []string{"a", "!"}},
		"long, several times over": {strings.Repeat("x", 33) + "\n" + strings.Repeat("y", 16) + "\nb", []string{"!", "!", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := lineReader{r: bufio.NewReaderSize(strings.NewReader(test.text), 16)}
			var got []string
			for {
				line, err := l.next()
				if err == io.EOF {
					break
				}
				if err != nil {
					line = []byte("!")
				}
				got = append(got, string(line))
				require.Len(t, got, l.number)
			}
			require.Equal(t, test.want, got)
		})
	}
}

// An accepted line can be written and read again without a change. An error never repeats
// a secret.
func FuzzParseLegacyClient(f *testing.F) {
	f.Add("hunter2-hunter2", `"id":"a","name":"A"`)
	f.Add("a \" quote", `"id":"a","secrets":["x"]`)
	f.Add("12345678", `"id":7`)
	f.Add("\ud7ff", `"nmae":"x"`)
	f.Add("twice-over", `"secret":"x"`)
	f.Fuzz(func(t *testing.T, secret, rest string) {
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Skip()
		}
		got, err := parseLegacyClient([]byte(`{"secret":` + string(quoted) + `,` + rest + `}`))
		if err != nil {
			if len(secret) > 7 && !strings.Contains(rest, secret) && !strings.Contains("is not one JSON object is missing there twice a member with long name known holds character that Unicode string list", secret) {
				require.NotContains(t, err.Error(), secret)
			}
			return
		}
		require.Equal(t, secret, got.Secrets[0].Reveal())
		again, err := json.Marshal(got)
		require.NoError(t, err)
		same, err := parseLegacyClient(again)
		require.NoError(t, err)
		require.Equal(t, got, same)
	})
}
