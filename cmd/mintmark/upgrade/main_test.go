package upgrade

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// newLevel is the feature level of the new program, one above that of the old.
const newLevel = 2

// A change modifies the new program's text, so that it knows something that the old one
// does not.
type change struct{ file, old, new string }

var changes = []change{
	{"issuer/ledger/level.go", "const Level = 1", "const Level = 2"},
	// A kind that would stop the old program must be withheld.
	{"issuer/ledger/kind.go", "KindDisconnect           command.Kind = 19", "KindDisconnect           command.Kind = 250"},
	{"issuer/ledger/level.go", "return map[command.Kind]uint32{}", "return map[command.Kind]uint32{KindDisconnect: 2}"},
	// A rule that differs in the old program would make the states differ.
	{"issuer/ledger/audit.go", "	e.Seq, e.At = m.Seq, stateTime(m)\n", "	e.Seq, e.At = m.Seq, stateTime(m)\n	if m.Level >= 2 {\n		e.Detail += \" (level 2)\"\n	}\n"},
}

// The two programs.
var oldBinary, newBinary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mintmark-upgrade-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "upgrade:", err)
		return 1
	}
	return m.Run()
}

// build builds the old program from the commit that froze its level, and the new one from
// this checkout with the changes.
func build(dir string) (err error) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		return err
	}
	old, err := frozen(root, filepath.Join(dir, "old"))
	if err != nil {
		return err
	}
	overlay, err := changed(root, dir)
	if err != nil {
		return err
	}
	if oldBinary, err = compile(old, filepath.Join(dir, "mintmark-old"), "old"); err != nil {
		return err
	}
	newBinary, err = compile(root, filepath.Join(dir, "mintmark-new"), "new", "-overlay", overlay)
	return err
}

// frozen writes the source tree of the last commit that froze the older level to
// a directory, which it returns.
func frozen(root, dir string) (string, error) {
	line := fmt.Sprintf("^level %d frozen", newLevel-1)
	commit, err := output(root, "git", "log", "-1", "--format=%H", "-G", line, "--", "issuer/testdata/fields.txt")
	if err != nil {
		return "", err
	}
	if commit == "" {
		return "", fmt.Errorf("no commit froze level %d: this test needs the history of the checkout", newLevel-1)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	archive := filepath.Join(dir, "source.tar")
	if _, err := output(root, "git", "archive", "--output", archive, commit); err != nil {
		return "", err
	}
	_, err = output(dir, "tar", "-xf", archive)
	return dir, err
}

// output runs a command in a directory and returns what it prints.
func output(dir, name string, arguments ...string) (string, error) {
	c := exec.Command(name, arguments...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run %s %s: %w\n%s", name, arguments[0], err, bytes.TrimSpace(out))
	}
	return string(bytes.TrimSpace(out)), nil
}

// changed writes the changed files and the list for "go build".
func changed(root, dir string) (list string, err error) {
	replace := map[string]string{}
	for _, c := range changes {
		file := filepath.Join(root, c.file)
		from, again := replace[file]
		if !again {
			from = file
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if n := bytes.Count(text, []byte(c.old)); n != 1 {
			return "", fmt.Errorf("%q is %d times in %s: the change must follow the program", c.old, n, c.file)
		}
		replace[file] = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(replace[file], bytes.Replace(text, []byte(c.old), []byte(c.new), 1), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o600)
}

// compile builds as the Makefile does, with a name of the version.
func compile(source, path, version string, more ...string) (string, error) {
	err := testkit.GoBuild(source, append(more, "-buildvcs=false", "-ldflags", "-X main.version="+version, "-o", path, "./cmd/mintmark")...)
	if err != nil {
		return "", fmt.Errorf("build the %s binary: %w", version, err)
	}
	return path, nil
}
