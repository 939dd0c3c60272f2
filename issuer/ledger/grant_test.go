package ledger_test

import (
	"bytes"
	"encoding"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestGrantIsSmall: a Grant of 208 bytes exactly fills a size class of Go's allocator.
// The next class costs 16 bytes more for each grant.
func TestGrantIsSmall(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(ledger.Grant{}), uintptr(208))
}

// TestFixedLengths verifies that bytes of another length are refused: shortened or filled up, they
// would be the id of something else.
func TestFixedLengths(t *testing.T) {
	for name, one := range map[string]struct {
		value  encoding.BinaryUnmarshaler
		length int
	}{
		"command":  {new(command.ID), 16},
		"grant id": {new(ledger.GrantID), 16},
		"digest":   {new(ledger.Sum), 32},
	} {
		for _, length := range []int{0, one.length - 1, one.length + 1} {
			require.Error(t, one.value.UnmarshalBinary(make([]byte, length)), "%s of %d bytes", name, length)
		}
		require.NoError(t, one.value.UnmarshalBinary(bytes.Repeat([]byte{7}, one.length)), name)
		require.NotZero(t, reflect.ValueOf(one.value).Elem().Interface(), name)
	}
}
