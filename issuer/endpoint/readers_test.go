package endpoint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
)

func TestParseReaders(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for text, message := range map[string]string{
		"":                              "no readers",
		"# nobody\n\n":                  "no readers",
		"calendar\n":                    "line 1 is not",
		"calendar:\n":                   "line 1 is not",
		":" + digest:                    "line 1 is not",
		"calendar:" + digest + "00":     "line 1 is not",
		"calendar:" + digest[2:]:        "line 1 is not",
		"calendar:" + "zz" + digest[2:]: "line 1 is not",
		"calendar:" + digest + "z":      "line 1 is not",
		"two words:" + digest:           "line 1 is not",
		strings.Repeat("#\n", 10_000) + "calendar:" + digest:       "line 10001 is not",
		"calendar:" + digest + "\n" + strings.Repeat("#", 100_000): "token too long",
		"#\ncalendar:" + digest + "\nb:mms":                        "line 3 is not",
	} {
		_, err := endpoint.ParseReaders(strings.NewReader(text))
		require.ErrorContains(t, err, message, "%q", text)
		assert.NotContains(t, err.Error(), "mms")
	}
	_, err := endpoint.ParseReaders(strings.NewReader("# two\n\ncalendar:" + digest + "\n  calendar:" + strings.Repeat("00", 32) + "  \n"))
	require.NoError(t, err)
	_, err = endpoint.ParseReaders(strings.NewReader(endpoint.ReaderLine("a.b_c-9", "a secret")))
	require.NoError(t, err)
}
