package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The session reads the names of blocks from descriptor 3 and answers on 4. A block that
// fails ends it, because of -e. Blocks in the background are jobs of their own, so that
// an interrupt reaches one of them completely and nothing else.
const sessionScript = `
set -euo pipefail
while read -r how block <&3; do
	case $how in
	run) . "$block" >"$block.out" 2>&1 </dev/null 3<&- 4>&-; echo done >&4 ;;
	background)
		set -m
		( . "$block" ) >"$block.out" 2>"$block.err" </dev/null 3<&- 4>&- &
		set +m
		echo $! >&4 ;;
	interrupt)
		kill -INT -- "-$block" 2>/dev/null || :
		wait "$block" || :
		echo done >&4 ;;
	esac
done
`

// A session is one bash in which blocks run one after the other.
type session struct {
	t        testing.TB
	scratch  string
	command  *exec.Cmd
	commands *os.File
	answers  *bufio.Reader
	blocks   int
	code     string // value of CODE in later blocks, "" before a browser
	named    map[string]*job
}

// A job runs in the background.
type job struct {
	step step
	pid  int // of its process group; 0 after an interrupt
}

// startSession begins in dir.
func startSession(t testing.TB, dir string) *session {
	t.Helper()
	s := &session{t: t, scratch: t.TempDir(), named: map[string]*job{}}
	commands, say, err := os.Pipe()
	require.NoError(t, err)
	answers, answer, err := os.Pipe()
	require.NoError(t, err)
	s.commands, s.answers = say, bufio.NewReader(answers)
	s.command = exec.Command("bash", "-c", sessionScript)
	s.command.Dir = dir
	s.command.Env = append(os.Environ(), insideDocument+"=1")
	s.command.ExtraFiles = []*os.File{commands, answer}
	s.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, s.command.Start())
	require.NoError(t, commands.Close())
	require.NoError(t, answer.Close())
	t.Cleanup(func() {
		say.Close()
		slow := time.AfterFunc(20*time.Second, func() { _ = syscall.Kill(-s.command.Process.Pid, syscall.SIGKILL) })
		defer slow.Stop()
		_ = s.command.Wait()
		answers.Close()
	})
	return s
}

// send sends the session a command and waits for its answer.
func (s *session) send(how, what string, patience time.Duration) (string, error) {
	if _, err := fmt.Fprintln(s.commands, how, what); err != nil {
		return "", err
	}
	slow := time.AfterFunc(patience, func() { _ = syscall.Kill(-s.command.Process.Pid, syscall.SIGKILL) })
	defer slow.Stop()
	answer, err := s.answers.ReadString('\n')
	return strings.TrimSpace(answer), err
}

func (s *session) write(text string) (path string) {
	s.t.Helper()
	s.blocks++
	path = filepath.Join(s.scratch, fmt.Sprintf("block-%d.sh", s.blocks))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// run runs a block to its end and returns what it printed.
func (s *session) run(text string) (output string, err error) {
	s.t.Helper()
	path := s.write(text)
	_, err = s.send("run", path, 5*time.Minute)
	out, readErr := os.ReadFile(path + ".out")
	if err != nil {
		return string(out), fmt.Errorf("the block failed or took too long: %w", err)
	}
	return string(out), readErr
}

// background starts a block and waits until it is ready. It is interrupted, as by Ctrl-C,
// at the end of the test at the latest.
func (s *session) background(step step, text string) (output string, err error) {
	s.t.Helper()
	path := s.write(text)
	answer, err := s.send("background", path, time.Minute)
	if err != nil {
		return "", err
	}
	j := &job{step: step}
	if j.pid, err = strconv.Atoi(answer); err != nil {
		return "", err
	}
	if step.name != "" {
		s.named[step.name] = j
	}
	s.t.Cleanup(func() { assert.NoError(s.t, s.interrupt(j)) })
	printed := func() (output, problems string) {
		o, _ := os.ReadFile(path + ".out")
		p, _ := os.ReadFile(path + ".err")
		return string(o), string(p)
	}
	ready := func() bool { return step.isReady(printed()) }
	until := time.Now().Add(5 * time.Minute) // the block may build first
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ready() && err == nil {
		switch {
		case syscall.Kill(j.pid, 0) != nil && !ready():
			err = fmt.Errorf("the block ended before it was ready")
		case time.Now().After(until):
			err = fmt.Errorf("the block was not ready in time")
		}
		<-tick.C
	}
	out, problems := printed()
	return problems + out, err
}

func (s step) isReady(output, problems string) bool {
	if s.ready != "" && strings.Contains(output+problems, s.ready) {
		return true
	}
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "{") && strings.HasSuffix(line, "}\n") {
			return true
		}
	}
	return false
}

// stop interrupts a named job.
func (s *session) stop(name string) error {
	j, ok := s.named[name]
	if !ok {
		return fmt.Errorf("no block of this name was started")
	}
	return s.interrupt(j)
}

// interrupt ends a job, including processes that are left after the session has ended.
func (s *session) interrupt(j *job) error {
	pid := j.pid
	if j.pid = 0; pid == 0 {
		return nil
	}
	defer func() { _ = syscall.Kill(-pid, syscall.SIGKILL) }()
	if _, err := s.send("interrupt", strconv.Itoa(pid), 20*time.Second); err != nil {
		return nil // the session failed, and the test with it
	}
	until := time.Now().Add(20 * time.Second)
	for syscall.Kill(-pid, 0) == nil {
		if time.Now().After(until) {
			return fmt.Errorf("a background process is still running")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}
