package machinetest

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// Filled returns a toy machine with that many rows in both tables and a status.
func Filled(rows int) *machine.Memory {
	m := machine.NewMemory(Toy(), FixedNow)
	for i := range rows {
		m.Do(&Set{Name: fmt.Sprint(i), Value: uint64(i), Pad: []byte("pad")}, command.ID{byte(i)}, false)
		m.Do(&Set{Name: fmt.Sprint(i), Table: "others"}, command.ID{byte(i), 1}, false)
	}
	return m
}
