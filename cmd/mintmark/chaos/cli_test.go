package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	"github.com/stretchr/testify/require"
)

// Exit codes of the operators' commands.
const (
	exitOK          = 0
	exitRefused     = 2
	exitNotFound    = 3
	exitUnreachable = 4
	exitUnhealthy   = 5
)

// commandLimit is the longest time for a command.
const commandLimit = 15 * time.Second

// A cliResult is the result of a command.
type cliResult struct {
	code        int // -1: killed after commandLimit
	out, errors []byte
}

// run runs an operators' command on the node.
func (n *node) run(arguments ...string) cliResult { return n.runWith(nil, arguments...) }

// runWith is run with standard input.
func (n *node) runWith(input []byte, arguments ...string) cliResult {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	c := exec.CommandContext(ctx, n.c.binary, append(arguments, "--data-dir", n.dir)...)
	var out, errors bytes.Buffer
	c.Env = clean()
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(input), &out, &errors
	_ = c.Run() // the exit code has the result
	return cliResult{c.ProcessState.ExitCode(), out.Bytes(), errors.Bytes()}
}

// decided runs a command as runWith does, and repeats it, as an operator would, while the
// answer is that nothing was changed. A leader steps down if no follower answers it for
// 400 ms, which also happens to healthy nodes on a busy machine or disk, and no command
// is decided until the next leader is elected, a second or two later. Without the
// repetition, such an election failed commands of the test itself.
func (n *node) decided(input []byte, arguments ...string) (a cliResult) {
	until(eventually, func() bool {
		a = n.runWith(input, arguments...)
		return a.code != exitUnhealthy || !bytes.Contains(a.errors, []byte("nothing was changed"))
	})
	return a
}

// must is decided for a command that must succeed; otherwise the test fails.
func (n *node) must(arguments ...string) []byte {
	n.c.t.Helper()
	a := n.decided(nil, arguments...)
	require.Equal(n.c.t, exitOK, a.code, "%v: %s", arguments, a.errors)
	return a.out
}

// status is the cluster as known by a node.
type status struct {
	Name, Leader string
	Healthy      bool
	Problems     []string
	Term         uint64
	Nodes        []member
}

type member struct {
	ID, Address              string
	Name, Role, State, Error string
	Term, Applied, Last      uint64
	ClockOffset              int64 `json:"clock_offset_ms"`
}

// status returns a node's status. If the cluster is unhealthy, the command has exit code
// 5 and the same output.
func (n *node) status() (status, error) {
	var s status
	a := n.run("cluster", "status", "-o", "json")
	if err := json.Unmarshal(a.out, &s); err != nil {
		return s, fmt.Errorf("cluster status on %s: exit code %d: %s", n.name, a.code, a.errors)
	}
	return s, nil
}

// status returns the status of the first node that knows a leader.
func (c *cluster) status() (status, error) {
	var last error
	for _, n := range c.all() {
		if !n.running() || n.process().paused() {
			continue
		}
		s, err := n.status()
		if err == nil && s.Leader != "" {
			return s, nil
		}
		last = err
	}
	return status{}, fmt.Errorf("no node knows a leader: %w", last)
}

// leader returns the leader, or nil.
func (c *cluster) leader() *node {
	if c.single {
		return c.nodes[0]
	}
	s, err := c.status()
	if err != nil {
		return nil
	}
	return c.node(s.Leader)
}

func (c *cluster) voters() (names []string) {
	s, err := c.status()
	if err != nil {
		return nil
	}
	for _, m := range s.Nodes {
		if m.Role == "voter" {
			names = append(names, m.Name)
		}
	}
	return names
}

// A checksum is the hash of a node's whole state at an applied index.
type checksum struct {
	Applied  uint64
	Checksum string
}

func (n *node) checksum() (checksum, error) {
	var s checksum
	a := n.run("cluster", "checksum", "-o", "json")
	if err := json.Unmarshal(a.out, &s); err != nil {
		return s, fmt.Errorf("cluster checksum on %s: exit code %d: %s", n.name, a.code, a.errors)
	}
	return s, nil
}
