package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestNumbers: deleted rows and ended grants are not counted.
func TestNumbers(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "user bob", "sign-in alice", "import app owner=alice secrets=s scopes=PROFILE_READ", "import old owner=alice secrets=s scopes=PROFILE_READ",
		"allow alice client=app scope=PROFILE_READ grant=g", "allow alice client=app scope=PROFILE_READ grant=h",
		"revoke h", "delete old", "user-state bob to=delete",
	} {
		require.NotContains(t, w.run(line), "invalid_request", line)
	}
	n := w.view().Numbers()
	require.Equal(t, map[ledger.ClientState]int{ledger.Approved: 1}, n.Clients)
	require.Equal(t, 1, n.Grants)
	require.Equal(t, 1, n.Sessions)
	require.Equal(t, 1, n.Users-usersOfTheEnv(t))
}

// usersOfTheEnv is how many users an environment has from the start.
func usersOfTheEnv(t *testing.T) int { return newEnv(t).view().Numbers().Users }
