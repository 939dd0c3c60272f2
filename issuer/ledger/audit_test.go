package ledger_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestEventKinds: the list has every kind that is declared, in their order.
func TestEventKinds(t *testing.T) {
	text, err := os.ReadFile("audit.go")
	require.NoError(t, err)
	var declared []ledger.EventKind
	for _, m := range regexp.MustCompile(`(?m)^\tEvent\w+ +EventKind = "([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		declared = append(declared, ledger.EventKind(m[1]))
	}
	require.NotEmpty(t, declared)
	require.Equal(t, declared, ledger.EventKinds)
}
