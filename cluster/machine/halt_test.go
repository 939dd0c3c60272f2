package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// TestHaltCountsADayAtMost: of a longer outage, only a day counts.
func TestHaltCountsADayAtMost(t *testing.T) {
	m := machine.NewMemory(machinetest.Toy(), machinetest.FixedNow)
	m.Halt(25 * time.Hour)
	m.Halt(-time.Hour)
	m.Halt(time.Second)
	v, _ := m.Do(&machinetest.Set{Name: "a"}, command.ID{1}, false)
	require.Equal(t, (24*time.Hour + time.Second).Milliseconds(), v.(command.Meta).Halted)
}
