package ledger_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestEveryCauseHasARow verifies that each declared cause has a sentence, and the name of its
// constant in metrics, which alerts depend on.
func TestEveryCauseHasARow(t *testing.T) {
	text, err := os.ReadFile("cause.go")
	require.NoError(t, err)
	declared := regexp.MustCompile(`(?m)^\t(\w+) +Cause = (\d+)`).FindAllStringSubmatch(string(text), -1)
	assert.Len(t, ledger.Causes(), len(declared)-1, "NoCause has none")
	for _, m := range declared {
		number, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		cause := ledger.Cause(number)
		if cause == ledger.NoCause {
			continue
		}
		assert.Equal(t, strings.ToLower(m[1]), strings.ReplaceAll(cause.Name(), "_", ""))
		assert.NotEqual(t, "unknown cause", cause.String(), m[1])
	}
}

// TestExplanationText verifies that the description of a malformed request, if there is one, is shown in
// place of the cause.
func TestExplanationText(t *testing.T) {
	require.Equal(t, ledger.ClientPending.String(), (&ledger.Explanation{Cause: ledger.ClientPending}).Text())
	require.Equal(t, "the code is missing", (&ledger.Explanation{Cause: ledger.ClientPending, Note: "The code is missing."}).Text())
}
