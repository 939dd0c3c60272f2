package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
)

// modulePath is the root's module. Packages of nested modules have it as a prefix, and
// "go test" finds them by their import path only.
const modulePath = "github.com/mintmark-auth/mintmark"

// switchPath is the package that decides which condition is broken. It exists in the
// overlay only.
const (
	switchPath = modulePath + "/internal/mutant"
	switchName = "mutant"
	switchFile = "internal/mutant/mutant.go"
)

// The switch package reads its orders from the environment of a test binary.
const (
	environmentBroken = "MINTMARK_MUTANT"      // "ID=VALUE": the condition that is broken
	environmentSeen   = "MINTMARK_MUTANT_SEEN" // the file that takes "ID=VALUE" for each value that a condition had
)

const switchSource = `package mutant

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

var (
	broken = -1
	always bool
	file   *os.File
	seen   [1 << 16][2]atomic.Bool
)

func init() {
	if id, value, ok := strings.Cut(os.Getenv("` + environmentBroken + `"), "="); ok {
		fmt.Sscan(id, &broken)
		always = value == "true"
	}
	if path := os.Getenv("` + environmentSeen + `"); path != "" {
		var err error
		if file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
			panic(err)
		}
	}
}

func If[B ~bool](id int, value B) B {
	if id == broken {
		return B(always)
	}
	if file != nil {
		note(id, bool(value))
	}
	return value
}

func note(id int, value bool) {
	i := 0
	if value {
		i = 1
	}
	if !seen[id][i].Swap(true) {
		fmt.Fprintf(file, "%d=%t\n", id, value)
	}
}
`

// order returns a mutant's name for the switch package.
func (m mutant) order() string { return strconv.Itoa(m.id) + "=" + strconv.FormatBool(m.value) }

// writeOverlay writes the wrapped files to a folder, and returns the file that
// "go test -overlay" reads.
func writeOverlay(folder, root string, sources []*source) (string, error) {
	replace := map[string]string{}
	add := func(path string, text []byte) error {
		to := filepath.Join(folder, strconv.Itoa(len(replace))+".go")
		replace[path] = to
		return os.WriteFile(to, text, 0o600)
	}
	if err := add(filepath.Join(root, switchFile), []byte(switchSource)); err != nil {
		return "", err
	}
	for _, s := range sources {
		if err := add(s.path, s.text); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}
