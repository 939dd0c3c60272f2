package issuer_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryCodeHasADescription finds in the source each code that a decision about a code or
// a token refuses with. A code without a description would be answered with an empty one.
func TestEveryCodeHasADescription(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	described := read("refusal.go")
	code := regexp.MustCompile(`(?:refuse\(|code: )(oauth\.[A-Z]\w+)`)
	found := map[string]bool{}
	for _, file := range []string{"redeem", "exchange", "refresh", "fast_forward", "client_auth", "audience", "revoke"} {
		for _, match := range code.FindAllStringSubmatch(read("ledger/"+file+".go"), -1) {
			found[match[1]] = true
			require.Contains(t, described, match[1]+":", "%s.go refuses with this code, and descriptions in refusal.go lack it", file)
		}
	}
	require.Contains(t, found, "oauth.InvalidGrant")
	require.GreaterOrEqual(t, len(found), 6, "%v", found)
}
