package machine

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Machine is the state and the rules that a cluster replicates. It is not
// changed after use.
type Machine struct {
	// Tables is the schema. A table's "id" index orders its snapshot and must
	// order rows the same way on every node. The name "cluster" and those of package
	// member are reserved.
	Tables map[string]*memdb.TableSchema
	// Rows has a function for each table that returns a pointer to an empty row;
	// every row of the table has that type. Snapshots are decoded into it.
	Rows map[string]func() any
	// Commands is the closed list of kinds, each with a function that returns a
	// pointer to an empty command to decode into. Kinds from 0xff00 on are reserved.
	Commands map[command.Kind]func() command.Command
	// Outcome decodes the CBOR of the outcome of a command of some kind, which
	// another node decided. A machine that runs on one node needs none.
	Outcome func(command.Kind, []byte) (any, error)
	// Level is the highest feature level that this program supports. The cluster
	// uses a level when every member's program has it, and a program that lacks
	// it then refuses to run.
	Level uint32
	// Since has the level of the cluster from which on commands of a kind may be
	// proposed, where a program without the level would not know them, or would
	// decide them otherwise.
	Since map[command.Kind]uint32
}
