package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// TestIgnorableIsMarked: a node that does not know the kind of an ignorable command skips
// its entry.
func TestIgnorableIsMarked(t *testing.T) {
	t.Parallel()
	older := machinetest.Toy()
	delete(older.Commands, machinetest.KindHint)
	n := open(t, config(t, ""))
	_, index, err := n.Propose(t.Context(), &machinetest.Hint{Set: machinetest.Set{Name: "a"}})
	require.NoError(t, err)
	require.NoError(t, machine.NewMemory(older, machinetest.FixedNow).Apply(entryAt(t, n, index)))
}

func TestMachineIsChecked(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*machine.Machine){
		"table without prototype": func(m *machine.Machine) { delete(m.Rows, "others") },
		"prototype without table": func(m *machine.Machine) { delete(m.Tables, "others") },
		"prototype is a value":    func(m *machine.Machine) { m.Rows["others"] = func() any { return machinetest.Register{} } },
		"table name is taken":     func(m *machine.Machine) { m.Tables["cluster"] = m.Tables["others"] },
		"kind calls itself another": func(m *machine.Machine) {
			m.Commands[9] = func() command.Command { return new(machinetest.Set) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := machinetest.Toy()
			spoil(&m)
			require.Panics(t, func() { machine.NewMemory(m, machinetest.FixedNow) })
			c := config(t, "")
			c.Machine = m
			_, err := cluster.Open(t.Context(), c)
			require.Error(t, err)
		})
	}
}
