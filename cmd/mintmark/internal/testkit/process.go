package testkit

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Process is one run of a program. Signals are sent by its handle, so they never reach
// another process.
type Process struct {
	Command *exec.Cmd
	Log     string // file that standard error is appended to; it outlives the process

	from  int64 // where this run begins in the log
	began time.Time
	out   output
	ended chan struct{}
	err   error // of the program's end; set before ended is closed
}

// Start starts a command and returns at once.
func Start(c *exec.Cmd, log string) (*Process, error) {
	stderr, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	info, err := stderr.Stat()
	if err != nil {
		return nil, err
	}
	p := &Process{Command: c, Log: log, from: info.Size(), began: time.Now(), ended: make(chan struct{})}
	p.out.first = make(chan struct{})
	c.Stdout, c.Stderr = &p.out, stderr
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	go func() {
		p.err = c.Wait()
		close(p.ended)
	}()
	return p, nil
}

// CleanEnv returns the environment without the variables of the program's settings.
func CleanEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MINTMARK_") })
}

// FirstLine returns the first line of standard output, which the program prints when it
// serves. A process that prints nothing within the limit is killed.
func (p *Process) FirstLine(limit time.Duration) (string, error) {
	select {
	case <-p.out.first:
	case <-p.ended:
	case <-time.After(limit):
		p.Kill()
	}
	line, _, found := strings.Cut(p.Output(), "\n")
	if !found {
		return "", fmt.Errorf("the process printed no line: %s", p.tail(4000))
	}
	return line, nil
}

// TimeToFirstLine returns the time from the start of the process to its first line.
func (p *Process) TimeToFirstLine() time.Duration {
	<-p.out.first
	return p.out.at.Sub(p.began)
}

// Output returns what the process has printed so far.
func (p *Process) Output() string {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return p.out.text.String()
}

// LogText returns what this run has written to the log.
func (p *Process) LogText() string {
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	return string(text[p.from:])
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.Command.Process.Pid }

// Running reports whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Signal sends a signal.
func (p *Process) Signal(s syscall.Signal) error { return p.Command.Process.Signal(s) }

// Wait waits for the end of the process. The error is that of [exec.Cmd.Wait].
func (p *Process) Wait() error {
	<-p.ended
	return p.err
}

// Kill kills the process, as a crash would, and waits for its end.
func (p *Process) Kill() {
	_ = p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Stop sends a signal that asks the process to end. It returns an error if the exit code
// is not 0, or if the process does not end in time; then it is killed.
func (p *Process) Stop(s syscall.Signal, limit time.Duration) error {
	if err := p.Signal(s); err != nil {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(limit):
		p.Kill()
		return fmt.Errorf("the process did not end within %s of %s", limit, s)
	}
	if p.err != nil {
		return fmt.Errorf("%w after %s: %s", p.err, s, p.LastLine())
	}
	return nil
}

// Paused reports whether the kernel has stopped the process (proc(5), stat).
func (p *Process) Paused() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return false
	}
	rest := text[bytes.LastIndexByte(text, ')')+1:]
	return len(rest) > 1 && rest[1] == 'T'
}

// LastLine returns the last line of the log, which often has the reason of a failure.
func (p *Process) LastLine() string {
	text := strings.TrimSpace(p.LogText())
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func (p *Process) tail(length int) string {
	text := strings.TrimSpace(p.LogText())
	return text[max(0, len(text)-length):]
}

// ordinary matches the lines that a node logs for each page and command.
var ordinary = regexp.MustCompile(`msg=(page|"operator command done")`)

// PrintTail logs the end of a log file without the ordinary lines.
func PrintTail(t testing.TB, name, file string) {
	t.Helper()
	const lines, width = 60, 400
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	all := slices.DeleteFunc(bytes.Split(bytes.TrimSpace(text), []byte("\n")), ordinary.Match)
	all = all[max(0, len(all)-lines):]
	for i, line := range all {
		all[i] = line[:min(len(line), width)]
	}
	t.Logf("the end of the log of %s:\n%s", name, bytes.Join(all, []byte("\n")))
}

// Until waits for a condition, and reports whether it became true within the limit.
func Until(limit time.Duration, holds func() bool) bool {
	for end := time.Now().Add(limit); !holds(); time.Sleep(PollPause) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// PollPause is the pause between two polls of a process.
const PollPause = 15 * time.Millisecond

// A Buffer is a bytes.Buffer that is safe for concurrent use.
type Buffer struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// Bytes returns a copy of what was written.
func (b *Buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.text.Bytes())
}

// String returns what was written.
func (b *Buffer) String() string { return string(b.Bytes()) }

// An output records standard output, and the time of its first line.
type output struct {
	mu    sync.Mutex   // guards text and at
	text  bytes.Buffer // all of it
	at    time.Time    // of the first line
	first chan struct{}
}

// Write implements [io.Writer].
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.at.IsZero() && bytes.IndexByte(b, '\n') >= 0 {
		o.at = time.Now()
		defer close(o.first)
	}
	return o.text.Write(b)
}
