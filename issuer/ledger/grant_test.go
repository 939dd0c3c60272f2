package ledger_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestGrantIsSmall: a row of 208 bytes fills a size class of Go's allocator
// exactly; the next one costs every grant 16 bytes more.
func TestGrantIsSmall(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(ledger.Grant{}), uintptr(208))
}
