package issuer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
)

// TestSealedForOnePurpose verifies that a text sealed for one purpose can't be opened for
// another one, so that users can't misuse the texts that they are given.
func TestSealedForOnePurpose(t *testing.T) {
	b := issuertest.New(t)
	purposes := map[string]struct {
		seal func([]byte) string
		open func(string) ([]byte, error)
	}{
		"attempt":    {b.SealAttempt, b.OpenAttempt},
		"device":     {b.SealDevice, b.OpenDevice},
		"new secret": {b.SealNewSecret, b.OpenNewSecret},
		"session":    {b.SealSession, func(text string) ([]byte, error) { return b.OpenSession(t.Context(), text) }},
	}
	for sealed, one := range purposes {
		for opened, other := range purposes {
			plain, err := other.open(one.seal([]byte("what is sealed")))
			if sealed != opened {
				require.Error(t, err, "sealed as %s, opened as %s", sealed, opened)
				continue
			}
			require.NoError(t, err, sealed)
			require.Equal(t, "what is sealed", string(plain))
		}
	}
}
