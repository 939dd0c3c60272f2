package chaos

import (
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// Exit codes of the operators' commands.
const (
	exitOK       = 0
	exitRefused  = 2
	exitNotFound = 3
)

// commandLimit is the longest time for a command.
const commandLimit = 15 * time.Second

// run runs an operators' command on the node.
func (n *node) run(arguments ...string) testkit.Result { return n.Run("", arguments...) }

// status returns the status of the first node that knows a leader.
func (c *cluster) status() (testkit.Status, error) {
	var last error
	for _, n := range c.all() {
		if !n.Running() || n.Process().Paused() {
			continue
		}
		s, err := n.Status()
		if err == nil && s.Leader != "" {
			return s, nil
		}
		last = err
	}
	return testkit.Status{}, fmt.Errorf("no node knows a leader: %w", last)
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
