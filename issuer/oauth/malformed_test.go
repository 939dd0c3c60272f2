package oauth_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestMalformedNumbers verifies that each description of a malformed request has a number, so that
// its error_id explains what is wrong.
func TestMalformedNumbers(t *testing.T) {
	literal := regexp.MustCompile(`(?:invalidRequest\(|InvalidRequest, Description: )"([^"]+)"`)
	seen := map[uint32]bool{}
	for _, file := range []string{"token.go", "presented_token.go", "client_credentials.go", "parameters.go", "../endpoint/token.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
			number := oauth.MalformedNumber(m[1])
			assert.NotZero(t, number, m[1])
			assert.Equal(t, m[1], oauth.MalformedDescription(number))
			seen[number] = true
		}
	}
	assert.Len(t, seen, 13)
	assert.EqualValues(t, 4, oauth.MalformedNumber("The parameter redirect_uri is missing."), "numbers are kept for ever")
	assert.Empty(t, oauth.MalformedDescription(0))
	assert.Empty(t, oauth.MalformedDescription(14))
	assert.Zero(t, oauth.MalformedNumber("Another."))
}
