package cli

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// TestNameFlag verifies what a refusal of a field shows, whatever the server sends.
func TestNameFlag(t *testing.T) {
	for field, want := range map[string]string{
		"scopes":     "--scope",
		"scopes[1]":  `--scope "B"`,
		"scopes[2]":  "--scope",
		"scopes[-1]": "--scope",
		"scopes[":    "--scope",
		"owner":      "owner", // has no flag
	} {
		c := &cobra.Command{}
		c.Flags().StringSlice("scope", nil, "")
		require.NoError(t, c.ParseFlags([]string{"--scope", "A,B"}))
		err := nameFlag(c, &admin.Problem{Field: field, Note: "is no scope"})
		require.Equal(t, want, err.(*admin.Problem).Field, field)
	}
}
