package upgrade

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// before is the commit that is upgraded from: the oldest whose "serve" runs a
// node of a cluster, which is feature level 1. It lacks kinds of commands and
// rules that came with later levels.
const before = "2adb61b3c133d686a7b3d452edfa3f05326473ca"

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

// build makes both, each from the text of its own commit or checkout.
func build(dir string) (err error) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		return err
	}
	if out, err := command(root, "git", "rev-parse", "--verify", "--quiet", before+"^{commit}").CombinedOutput(); err != nil {
		return fmt.Errorf("commit %s is not in this checkout, which needs its history (git fetch --unshallow): %w\n%s", before, err, out)
	}
	archive := filepath.Join(dir, "old.tar")
	source := filepath.Join(dir, "old")
	if err := os.Mkdir(source, 0o700); err != nil {
		return err
	}
	for _, c := range []*exec.Cmd{
		command(root, "git", "archive", "--output", archive, before),
		command(source, "tar", "-xf", archive),
	} {
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", c.Args, err, out)
		}
	}
	if oldBinary, err = compile(source, filepath.Join(dir, "mintmark-old"), "old"); err != nil {
		return err
	}
	newBinary, err = compile(root, filepath.Join(dir, "mintmark-new"), "new")
	return err
}

// compile is the Makefile's build, with a name of the version.
func compile(source, path, version string) (string, error) {
	c := command(source, "go", "build", "-race=false", "-trimpath", "-buildvcs=false",
		"-ldflags", "-X main.version="+version, "-o", path, "./cmd/mintmark")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the %s binary: %w\n%s", version, err, bytes.TrimSpace(out))
	}
	return path, nil
}

func command(dir, name string, arguments ...string) *exec.Cmd {
	c := exec.Command(name, arguments...)
	c.Dir = dir
	return c
}

// until waits for a condition and reports whether it came to hold in time.
func until(limit time.Duration, holds func() bool) bool {
	for end := time.Now().Add(limit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// eventually is how long anything may take on a machine that is busy.
const eventually = 40 * time.Second
