package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// binary is the program that all tests start; root is the checkout of its source.
var binary, root string

func TestMain(m *testing.M) {
	if os.Getenv(publisherAddress) != "" {
		os.Exit(runWithPublisher())
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv(insideDocument) != "" {
		fmt.Fprintln(os.Stderr, "e2e: a document runs these tests, which run the documents: mark that block no-run")
		return 1
	}
	dir, err := os.MkdirTemp("", "mintmark-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	if root, err = filepath.Abs(filepath.Join("..", "..", "..")); err == nil {
		binary, err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer closeBrowser()
	return m.Run()
}

// build builds as the Makefile does: static, and without the race detector of the tests.
// It takes further flags of go build.
func build(dir string, flags ...string) (string, error) {
	path := filepath.Join(dir, "mintmark")
	return path, testkit.GoBuild(root, append(flags, "-o", path, "./cmd/mintmark")...)
}

// installed returns the path of a program that make deps installs.
func installed(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("%s is not installed: run make deps", names[0])
	return ""
}
