package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImportWarnsOfWeakSecrets: a secret that may be guessable is imported, with a
// warning.
func TestImportWarnsOfWeakSecrets(t *testing.T) {
	c := newCLI(t)
	for secret, warns := range map[string]bool{
		`"secret":"summer-2019"`:                                                       true,
		`"secret":"1234567890123456789012345678901234567"`:                             true,
		`"secret":"0123456789abcdef0123456789abcde"`:                                   true,
		`"secret":"` + strings.Repeat("a", 200) + `"`:                                  true,
		`"secret_sha256":"` + strings.Repeat("0f", 32) + `"`:                           true,
		`"secret_hash":"$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"`: true,
		`"secret":"9f86d081884c7d659a2feaa0c55ad015"`:                                  false,
		`"secret":"kV3nQ8xTz1LmW5rYb7HcJ2"`:                                            false,
		`"secrets":["9f86d081884c7d659a2feaa0c55ad015","password"]`:                    true,
	} {
		line := `{"id":"app","name":"App","owner":"alice","redirect_uris":["https://app.example.com/cb"],` + secret + `}`
		r := c.Run(line, "client", "import", "-")
		require.Equal(t, ExitOK, r.Code, r.Err)
		require.Equal(t, warns, strings.Contains(r.Err, "generate a new secret"), "%s: %s", secret, r.Err)
	}
}
