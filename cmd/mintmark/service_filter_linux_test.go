package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/packaging"
)

// filterOf is the variable with the numbers of the permitted system calls as JSON. This
// test binary applies them and then becomes the real main.
const filterOf = "MINTMARK_TEST_SYSTEM_CALLS"

func init() { runFiltered = filterAndRun }

// filterAndRun applies the filter, as systemd does with SystemCallErrorNumber=EPERM, and
// executes the real main.
func filterAndRun() error {
	var allowed []uint32
	if err := json.Unmarshal([]byte(os.Getenv(filterOf)), &allowed); err != nil {
		return err
	}
	const allow, refuse = 0x7fff0000, 0x00050000 | uint32(syscall.EPERM)
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number
	for _, n := range allowed {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: n}, unix.SockFilter{Code: unix.BPF_RET, K: allow})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET, K: refuse})
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)), 0, 0); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	environment := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, runAs+"=") })
	return syscall.Exec(self, os.Args, append(environment, runAs+"=mintmark"))
}

// systemCalls returns the numbers of this machine's system calls by name.
func systemCalls(t *testing.T) map[string]uint32 {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "zsysnum_linux_"+runtime.GOARCH+".go"), nil, 0)
	require.NoError(t, err)
	all := map[string]uint32{}
	for _, d := range file.Decls {
		for _, s := range d.(*ast.GenDecl).Specs {
			v := s.(*ast.ValueSpec)
			number, err := types.Eval(token.NewFileSet(), nil, token.NoPos, v.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			n, _ := constant.Uint64Val(number.Value)
			all[strings.ToLower(strings.TrimPrefix(v.Names[0].Name, "SYS_"))] = uint32(n)
		}
	}
	return all
}

// members returns the system calls of a name or a group, as systemd defines them.
func members(t *testing.T, name string) (all []string) {
	t.Helper()
	if !strings.HasPrefix(name, "@") {
		return []string{name}
	}
	out, err := exec.Command("systemd-analyze", "syscall-filter", "--no-pager", name).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if word := strings.TrimSpace(line); strings.HasPrefix(line, " ") && !strings.HasPrefix(word, "#") {
			all = append(all, members(t, word)...)
		}
	}
	return all
}

// TestServiceRunsUnderTheUnitsFilter: a node works without the system calls that the unit
// refuses.
func TestServiceRunsUnderTheUnitsFilter(t *testing.T) {
	_, err := exec.LookPath("systemd-analyze")
	require.NoError(t, err, "make deps installs systemd-analyze")
	allowed := map[string]bool{}
	for line := range strings.Lines(packaging.Unit{}.Text()) {
		if list, ok := strings.CutPrefix(line, "SystemCallFilter="); ok {
			list, refused := strings.CutPrefix(strings.TrimSpace(list), "~")
			for _, word := range strings.Fields(list) {
				for _, name := range members(t, word) {
					allowed[name] = !refused
				}
			}
		}
	}
	require.True(t, allowed["adjtimex"])
	require.False(t, allowed["clock_settime"])
	require.False(t, allowed["setrlimit"])
	var numbers []uint32
	for name, number := range systemCalls(t) {
		if allowed[name] {
			numbers = append(numbers, number)
		}
	}
	require.Greater(t, len(numbers), 150)
	list, err := json.Marshal(numbers)
	require.NoError(t, err)

	n := newNodeProcess(t, t.TempDir(), "n1")
	filtered := func() *exec.Cmd {
		c := self(t, "filtered", n.Dir, n.ServeArgs()...)
		c.Env = append(c.Env, filterOf+"="+string(list))
		return c
	}
	require.NoError(t, n.Launch(filtered()))
	require.Eventually(t, func() bool { return n.Run("", "cluster", "init", "--public-url", n.URL()).Code == 0 }, 20*time.Second, 50*time.Millisecond)
	require.True(t, n.WaitReady(20*time.Second))
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.Process().PID()))
	require.NoError(t, err)
	require.True(t, bytes.Contains(status, []byte("\nSeccomp:\t2\n")), "%s", status)
	n.Must("", "user", "add", "ada")
	n.Must("", "cluster", "backup", "save", filepath.Join(t.TempDir(), "backup"))
	n.Stop()
	require.NoError(t, n.Launch(filtered()))
	require.True(t, n.WaitReady(20*time.Second))
	n.Must("", "user", "show", "ada")
	require.NotContains(t, n.Process().LogText(), "not permitted")
	n.Stop()
}
