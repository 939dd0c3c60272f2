package member

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// OwnTypes returns the rows and commands of this package.
func OwnTypes() map[string]any {
	types := map[string]any{"row " + machine.StatusTable: new(machine.Status), fmt.Sprint("command ", machine.KindHalt): new(machine.Halt)}
	for table, row := range ownRows() {
		types["row "+table] = row()
	}
	for kind, command := range ownCommands() {
		types[fmt.Sprint("command ", kind)] = command()
	}
	return types
}
