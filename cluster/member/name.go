package member

import (
	"regexp"
)

// NameRule describes ValidName: "a node's name is ...".
const NameRule = "1 to 63 letters, digits, dots, dashes and underscores, with a letter or digit at both ends"

// nodeNamePattern allows names that are safe in commands, file names and metrics.
var nodeNamePattern = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$`)

// ValidName reports whether name is a valid name of a node. The rule is part of a
// replicated decision, so a change needs a feature level.
func ValidName(name string) bool { return nodeNamePattern.MatchString(name) }
