package machine

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Machine has the tables and the rules that a cluster replicates. It must not be changed
// after use.
type Machine struct {
	// Tables is the schema. A table's "id" index orders its snapshot, and must order rows
	// in the same way on every node. The name "cluster" and those of package member are
	// reserved.
	Tables map[string]*memdb.TableSchema
	// Rows has a function for each table that returns a pointer to an empty row; every
	// row of the table has that type. Snapshots are decoded into it.
	Rows map[string]func() any
	// Derived is kept beside the rows. It may be nil.
	Derived *Derived
	// Commands has all kinds, each with a function that returns a pointer to an empty
	// command to decode into. Kinds from 0xff00 on are reserved.
	Commands map[command.Kind]func() command.Command
	// Outcome decodes the CBOR of an outcome of a kind, which another node decided. A
	// machine that runs on one node needs none.
	Outcome func(command.Kind, []byte) (any, error)
	// Level is the highest feature level that this program supports. The cluster uses a
	// level once every member's program supports it; a program without it then refuses to
	// run.
	Level uint32
	// Since has the feature level from which on commands of a kind may be proposed, if a
	// program without the level does not know them or would decide them differently.
	Since map[command.Kind]uint32
}
