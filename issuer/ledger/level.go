package ledger

import "github.com/mintmark-auth/mintmark/cluster/command"

// Level is the feature level of these rules. The level of a cluster (Meta.Level) is that
// of the oldest program among its nodes; it rises when the last node is upgraded. A rule
// that an older program lacks, or decides differently, must apply only from a higher level
// on: otherwise the states of the nodes would differ. Since lists the kinds of commands
// that a level adds.
//
// There is one level so far. Before the first release a new rule changes it instead: see
// issuer/testdata/fields.txt.
const Level = 1

// Since returns the kinds of commands that were added after level 1, each with the lowest
// level at which it may be proposed.
func Since() map[command.Kind]uint32 { return map[command.Kind]uint32{} }
