package cluster

import (
	"fmt"
	"strings"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A LevelError means that a command can't be proposed yet, because a node would
// not know it, or would decide it differently. It is an ErrUnavailable: nothing
// was proposed, and later it will be possible.
type LevelError struct {
	Needs, Has uint32   // feature levels: of the command, and of the cluster
	Behind     []string // names of the nodes whose program has not the level, with what it is
}

func (e *LevelError) Error() string {
	if len(e.Behind) == 0 {
		return fmt.Sprintf("not before the cluster uses feature level %d: every node's program supports it", e.Needs)
	}
	return fmt.Sprintf("not before every node runs a version with feature level %d: older are %s", e.Needs, strings.Join(e.Behind, ", "))
}

// Later is the reason, for operators.
func (e *LevelError) Later() string { return e.Error() }

// Is makes it an ErrUnavailable.
func (e *LevelError) Is(target error) bool { return target == ErrUnavailable }

// allowed withholds a command that this cluster's level does not have. The level
// never falls, so what is allowed here is so wherever in the log it ends up.
func (n *Node) allowed(k command.Kind) error {
	needs, has := n.core.Since(k), n.core.Level()
	if needs <= has {
		return nil
	}
	e := &LevelError{Needs: needs, Has: has}
	for _, m := range n.folder.PeerList.Get().Members {
		if m.Level < needs {
			version := m.Version
			if version == "" {
				version = "version unknown"
			}
			e.Behind = append(e.Behind, fmt.Sprintf("%s (%s, level %d)", m.Name, version, m.Level))
		}
	}
	return e
}
