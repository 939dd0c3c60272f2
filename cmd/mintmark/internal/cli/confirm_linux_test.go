package cli

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// TestDeleteAsksOnATerminal: on a terminal the command asks, and deletes only after a
// yes.
func TestDeleteAsksOnATerminal(t *testing.T) {
	for typed, deleted := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "yep\n": false} {
		c := newCLI(t)
		person, input := testkit.Terminal(t)
		_, err := person.WriteString(typed)
		require.NoError(t, err)
		var out, remarks bytes.Buffer
		code := executeRoot(t.Context(), []string{"client", "delete", "cal-app", "--data-dir", c.Dir}, input, &out, &remarks)
		require.Contains(t, remarks.String(), "delete client cal-app for good and end all its grants; its id can never be used again? [y/N] ", typed)
		state := string(c.View().Client("cal-app").State)
		if deleted {
			require.Equal(t, ExitOK, code, remarks.String())
			require.Equal(t, "deleted", state, typed)
			continue
		}
		require.Equal(t, ExitLocal, code, typed)
		require.Contains(t, remarks.String(), "mintmark: nothing was changed\n")
		require.Equal(t, "pending", state, typed)
	}
}

// TestDeleteWithoutATerminal: without a terminal the command doesn't ask. Its error names
// --yes.
func TestDeleteWithoutATerminal(t *testing.T) {
	c := newCLI(t)
	for _, args := range [][]string{{"client", "delete", "cal-app"}, {"user", "delete", "alice"}, {"cluster", "remove", "n3"}} {
		c.Fails(ExitLocal, "Standard input is no terminal, so give --yes", args...)
	}
	require.Equal(t, "pending", string(c.View().Client("cal-app").State))
	require.False(t, c.View().UserByName("alice").Deleted)
	c.OK("", "client", "delete", "cal-app", "--yes")
	c.OK("", "user", "delete", "alice", "--yes")
}

// TestConfirmWithoutAnAnswer: the end of the input means no.
func TestConfirmWithoutAnAnswer(t *testing.T) {
	person, input := testkit.Terminal(t)
	_, err := person.Write([]byte{4}) // end of input
	require.NoError(t, err)
	c := &cobra.Command{}
	c.SetIn(input)
	c.SetErr(new(bytes.Buffer))
	require.ErrorIs(t, confirm(c, false, "delete it"), errNotConfirmed)
	require.NoError(t, confirm(c, true, "delete it"))
}
