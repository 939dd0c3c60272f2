package chaos

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

var (
	root    string // of the checkout that binaries are built from
	scratch string // a folder that is removed after the tests
)

var (
	rounds = flag.Int("rounds", environment("MINTMARK_CHAOS_ROUNDS", 0), "faults to play, drawn at random (default: those of the gate, once each)")
	only   = flag.String("faults", "", "regular expression of the names of the faults to play")
	seed   = flag.Uint64("seed", rand.Uint64(), "of the rounds drawn at random")
)

func environment(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if root, err = filepath.Abs(filepath.Join("..", "..", "..")); err == nil {
		scratch, err = os.MkdirTemp("", "mintmark-chaos-")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return 1
	}
	defer os.RemoveAll(scratch)
	return m.Run()
}
