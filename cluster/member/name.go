package member

import (
	"regexp"
)

// NameRule is ValidName in words: "a node's name is ...".
const NameRule = "1 to 63 letters, digits, dots, dashes and underscores, with a letter or digit at both ends"

// nodeNamePattern stand in commands, file names and metrics.
var nodeNamePattern = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$`)

// ValidName reports whether a node may have a name. The rule is part of a
// replicated decision: it can't change without a feature level.
func ValidName(name string) bool { return nodeNamePattern.MatchString(name) }
