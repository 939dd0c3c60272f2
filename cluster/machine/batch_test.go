package machine_test

import (
	"bytes"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

func TestEntryIsDeterministicCBOR(t *testing.T) {
	cmds := []machine.Encoded{
		{Kind: 0, Body: []byte{}},
		{Kind: 23, Flags: machine.FlagAgain, ID: command.ID{1}, At: 24, Body: []byte("body")},
		{Kind: 24, Flags: machine.FlagIgnorable, At: 1 << 8, Body: bytes.Repeat([]byte{7}, 300)},
		{Kind: 65535, Flags: 3, At: 1_800_000_000_000, Body: bytes.Repeat([]byte{7}, command.MaxBody)},
		{Kind: 256, At: 1<<63 - 1, Body: []byte{0xf6}},
	}
	entry := machinetest.Entry(cmds...)

	// An independent encoder writes the same bytes.
	var rows []any
	for _, c := range cmds {
		rows = append(rows, []any{uint16(c.Kind), c.Flags, c.ID[:], c.At, c.Body})
	}
	mode, err := cbor.CoreDetEncOptions().EncMode()
	require.NoError(t, err)
	want, err := mode.Marshal(rows)
	require.NoError(t, err)
	require.Equal(t, want, entry[1:])

	got, err := machine.DecodeBatch(entry, nil)
	require.NoError(t, err)
	require.Equal(t, cmds, got)
}

func TestDamagedEntryIsRefused(t *testing.T) {
	good := machinetest.Entry(machine.Encoded{Kind: 1, At: 5, Body: []byte("x")})
	_, err := machine.DecodeBatch(good, nil)
	require.NoError(t, err)
	for cut := range good {
		_, err := machine.DecodeBatch(good[:cut], nil)
		require.Error(t, err, "cut at %d", cut)
	}
	for name, entry := range map[string][]byte{
		"newer version":       append([]byte{9}, good[1:]...),
		"trailing bytes":      append(bytes.Clone(good), 0),
		"too many commands":   {1, 0x99, 0x01, 0x01},
		"not an array":        {1, 0x40},
		"four elements":       {1, 0x81, 0x84, 1, 0, 0x40, 1},
		"unknown flag":        {1, 0x81, 0x85, 1, 4},
		"not shortest":        {1, 0x98, 0x01, 0x85},
		"not shortest, two":   {1, 0x99, 0x00, 0x41},
		"indefinite length":   {1, 0x9f},
		"short id":            {1, 0x81, 0x85, 1, 0, 0x41, 1, 1, 0x40},
		"body over its limit": machinetest.Entry(machine.Encoded{Kind: 1, Body: make([]byte, command.MaxBody+1)}),
		"huge":                make([]byte, 1<<20),
	} {
		_, err := machine.DecodeBatch(entry, nil)
		require.Error(t, err, name)
	}
}

// FuzzDecodeEntry: an accepted entry is encoded to the same bytes again, so each entry
// has one encoding.
func FuzzDecodeEntry(f *testing.F) {
	f.Add(machinetest.Entry())
	f.Add(machinetest.Entry(machine.Encoded{Kind: 1, At: 5, Body: []byte("x")}))
	f.Add(machinetest.Entry(
		machine.Encoded{Kind: 300, Flags: 3, At: 1 << 40, Body: make([]byte, 300)},
		machine.Encoded{Kind: 65535},
	))
	f.Add([]byte{1, 0x99, 0x00, 0x41})
	f.Fuzz(func(t *testing.T, data []byte) {
		cmds, err := machine.DecodeBatch(data, nil)
		if err != nil {
			return
		}
		require.Equal(t, data, machinetest.Entry(cmds...))
	})
}
