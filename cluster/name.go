package cluster

import (
	"fmt"
	"regexp"
)

// NameRule is ValidName in words: "a node's name is ...".
const NameRule = "1 to 63 letters, digits, dots, dashes and underscores, with a letter or digit at both ends"

// nodeNamePattern stand in commands, file names and metrics.
var nodeNamePattern = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$`)

// ValidName reports whether a node may have a name. The rule is part of a
// replicated decision: it can't change without a feature level.
func ValidName(name string) bool { return nodeNamePattern.MatchString(name) }

// Name is what the cluster calls this node, and before it is a member what the
// node calls itself.
func (n *Node) Name() string {
	if m, ok := n.peerList.member(string(n.id)); ok {
		return m.Name
	}
	return n.config.Name
}

// checkName refuses a folder that belongs to another node than the one that is
// meant: one started on it would answer for the other.
func (n *Node) checkName() error {
	if name := n.Name(); n.config.ExplicitName && name != n.config.Name {
		return fmt.Errorf("the data is that of node %s, and this node shall be %s: a node keeps its name", name, n.config.Name)
	}
	return nil
}

// nameMismatch is why a node may not join by an invitation; "" where it may.
func nameMismatch(wanted, invited string) string {
	if wanted == "" || wanted == invited {
		return ""
	}
	return fmt.Sprintf("the join token is for node %s, and this node shall be %s (see --name)", invited, wanted)
}
