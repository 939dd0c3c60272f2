package machinetest

import "github.com/mintmark-auth/mintmark/cluster/machine"

// Entry encodes commands as one log entry.
func Entry(cmds ...machine.Encoded) []byte {
	b := machine.AppendBatch(nil, len(cmds))
	for i := range cmds {
		b = machine.AppendCommand(b, &cmds[i])
	}
	return b
}

// Encode encodes the body of a command. It panics on an error.
func Encode(v any) []byte {
	b, err := machine.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
