package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const before = `package p

func f(a, b int, s []int, known func(int) bool) (bool, int) {
	if a < b && !known(a) || (b == 3) {
		return a != b, 1
	}
	for a > 0 && func() bool { return b > 1 }() {
		a--
	}
	switch {
	case known(a), a >= b:
		return any(s) == nil, 2
	}
	const never = 1 > 2
	return never, 3
}
`

const after = `package p; import mutant "github.com/mintmark-auth/mintmark/internal/mutant"

func f(a, b int, s []int, known func(int) bool) (bool, int) {
	if mutant.If(10, a < b) && !mutant.If(11, known(a)) || (mutant.If(12, b == 3)) {
		return mutant.If(13, a != b), 1
	}
	for a > 0 && func() bool { return mutant.If(14, b > 1) }() {
		a--
	}
	switch {
	case mutant.If(15, known(a)), mutant.If(16, a >= b):
		return mutant.If(17, any(s) == nil), 2
	}
	const never = 1 > 2
	return never, 3
}
`

func TestWrap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.go")
	require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
	s, err := wrap(path, "p/p.go", 10)
	require.NoError(t, err)
	require.Equal(t, after, string(s.text))
	require.Equal(t, condition{"p/p.go", "if a < b && !known(a) || (b == 3) {", "known(a)"}, s.conditions[1])
}

// TestPlay plays a module with one function. Its test covers only one of two conditions,
// so a mutant of the other survives.
func TestPlay(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module " + filepath.Dir(filepath.Dir(switchPath)) + "\n\ngo 1.26\n",
		"r/r.go":      "package r\n\nfunc may(age int, known bool) bool { return age >= 18 && known }\n",
		"r/r_test.go": "package r\n\nimport \"testing\"\n\nfunc TestMay(t *testing.T) {\n\tif !may(20, true) || may(3, true) {\n\t\tt.Fatal()\n\t}\n}\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	f := family{files: []string{"r/*.go"}, tests: []tests{{folder: "r"}}}
	rest, err := f.play(t.Context(), root, func(string) bool { return true }, 1, io.Discard)
	require.NoError(t, err)
	require.Len(t, rest, 1)
	require.Equal(t, "known always true", rest[0].change())

	require.NoError(t, os.WriteFile(filepath.Join(root, "r", "r_test.go"), []byte("package r\n\nimport \"testing\"\n\nfunc TestMay(t *testing.T) { t.Fatal() }\n"), 0o600))
	_, err = f.play(t.Context(), root, func(string) bool { return true }, 1, io.Discard)
	require.ErrorContains(t, err, "TestMay of r fails with nothing broken")
}

func TestReadExplained(t *testing.T) {
	e, err := readExplained(strings.NewReader("# comment\n\na.go: if x: y {\n\tx: y always true: a reason: long\n"))
	require.NoError(t, err)
	m := mutant{condition{"a.go", "if x: y {", "x: y"}, 1, true}
	require.Equal(t, "a reason: long", e.reason(m))
	require.Empty(t, e.without([]mutant{m}))
	m.value = false
	require.Empty(t, e.reason(m))
	require.Equal(t, []string{"a.go: if x: y {\n\tx: y always true"}, e.without([]mutant{m}))
	for _, text := range []string{"\tx always true: r", "a.go: x\n\tx: r", "a.go: x\n\tx always true: "} {
		_, err := readExplained(strings.NewReader(text))
		require.Error(t, err, text)
	}
}

// TestExplained: each explanation belongs to a condition that still exists.
func TestExplained(t *testing.T) {
	mod, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	require.NoError(t, err)
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	text, err := os.ReadFile(filepath.Join(root, explainedFile))
	require.NoError(t, err)
	e, err := readExplained(strings.NewReader(string(text)))
	require.NoError(t, err)
	var all []mutant
	for _, f := range families {
		sources, conditions, err := wrapAll(root, f.files, func(string) bool { return true })
		require.NoError(t, err)
		require.NotEmpty(t, sources, f.files)
		for id, c := range conditions {
			all = append(all, mutant{c, id, true}, mutant{c, id, false})
		}
	}
	require.Empty(t, e.without(all))
}
