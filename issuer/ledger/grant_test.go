package ledger_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestGrantIsSmall: a Grant of 208 bytes exactly fills a size class of Go's allocator.
// The next class costs 16 bytes more for each grant.
func TestGrantIsSmall(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(ledger.Grant{}), uintptr(208))
}
