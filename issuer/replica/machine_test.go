package replica_test

import (
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// TestDoubledKeysAreRefused covers commands of every kind: with a repeated key, two nodes
// could read different commands from one entry of the log.
func TestDoubledKeysAreRefused(t *testing.T) {
	commands := replica.Machine().Commands
	require.NotEmpty(t, commands)
	for kind, empty := range commands {
		require.NoError(t, machine.Unmarshal([]byte{0xa1, 0x01, 0xf6}, empty()), kind)
		var doubled *cbor.DupMapKeyError
		require.ErrorAs(t, machine.Unmarshal([]byte{0xa2, 0x01, 0xf6, 0x01, 0xf6}, empty()), &doubled, kind)
	}
}
