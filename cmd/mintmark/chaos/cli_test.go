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

// commandLimit is how long an operator waits for a command.
const commandLimit = 15 * time.Second

// An answered is what a command came to.
type cliResult struct {
	code        int // -1: it was ended for taking too long
	out, errors []byte
}

// run runs an operators' command on the node.
func (n *node) run(arguments ...string) cliResult { return n.runWith(nil, arguments...) }

// runWith is run with something to read on standard input.
func (n *node) runWith(input []byte, arguments ...string) cliResult {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	c := exec.CommandContext(ctx, n.c.binary, append(arguments, "--data-dir", n.dir)...)
	var out, errors bytes.Buffer
	c.Env = clean()
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(input), &out, &errors
	_ = c.Run() // the exit code says it
	return cliResult{c.ProcessState.ExitCode(), out.Bytes(), errors.Bytes()}
}

// decided runs a command as runWith does, and repeats it, as an operator would, while
// the answer is that nothing was changed. A leader steps down if no follower answers
// it for 400 ms, which a busy machine or disk does to healthy nodes, and until the
// next leader is elected, a second or two later, no command is decided.
//
// Before, one run in ten of the short form failed, mostly because a command of the
// test itself, such as one that creates its clients, was tried once during such an
// election. No promise was broken.
func (n *node) decided(input []byte, arguments ...string) (a cliResult) {
	until(eventually, func() bool {
		a = n.runWith(input, arguments...)
		return a.code != exitUnhealthy || !bytes.Contains(a.errors, []byte("nothing was changed"))
	})
	return a
}

// must is decided for a command that must succeed: otherwise it fails the test.
func (n *node) must(arguments ...string) []byte {
	n.c.t.Helper()
	a := n.decided(nil, arguments...)
	require.Equal(n.c.t, exitOK, a.code, "%v: %s", arguments, a.errors)
	return a.out
}

// status is what a node knows of the cluster.
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

// status asks a node. The command fails with 5 where the cluster is unhealthy,
// and tells all the same.
func (n *node) status() (status, error) {
	var s status
	a := n.run("cluster", "status", "-o", "json")
	if err := json.Unmarshal(a.out, &s); err != nil {
		return s, fmt.Errorf("cluster status on %s: exit code %d: %s", n.name, a.code, a.errors)
	}
	return s, nil
}

// status is what the first node says that knows a leader.
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

// leader is the node that leads, or nil.
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

// A checksum is of a node's whole state at an applied index.
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
