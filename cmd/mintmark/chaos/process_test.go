package chaos

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process is one start of the binary. It is signalled only by its handle, so that no
// other process can be hit.
type process struct {
	command *exec.Cmd
	log     string // file of standard error, kept after the process ends
	exited  chan struct{}
}

// launch starts the binary and returns at once.
func launch(binary, log string, environment []string, arguments ...string) (*process, error) {
	stderr, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	c := exec.Command(binary, arguments...)
	c.Env = append(clean(), environment...)
	c.Stderr = stderr
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	p := &process{command: c, log: log, exited: make(chan struct{})}
	go func() {
		_ = c.Wait()
		close(p.exited)
	}()
	return p, nil
}

// clean returns the environment without variables that the program would read as
// settings.
func clean() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MINTMARK_") })
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

func (p *process) signal(s syscall.Signal) error { return p.command.Process.Signal(s) }

// kill ends the process as a crash does, and returns when it has ended.
func (p *process) kill() {
	_ = p.signal(syscall.SIGKILL)
	<-p.exited
}

// stop ends the process as a service manager does.
func (p *process) stop(limit time.Duration) error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
	case <-time.After(limit):
		p.kill()
		return fmt.Errorf("the process did not stop within %s of SIGTERM", limit)
	}
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("exit code %d after SIGTERM: %s", code, lastLine(p.log))
	}
	return nil
}

// paused reports whether the kernel has stopped the process (proc(5), stat).
func (p *process) paused() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		return false
	}
	rest := text[bytes.LastIndexByte(text, ')')+1:]
	return len(rest) > 1 && rest[1] == 'T'
}

// lastLine returns the last line of a log, such as the reason of a failure.
func lastLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// ordinary matches the records that a node logs for each page and command of the load.
var ordinary = regexp.MustCompile(`msg=(page|"operator command done")`)

// printTail logs the end of a log, without ordinary records.
func printTail(t testing.TB, name, file string) {
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
