package cli

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/rekey"
)

func TestRotateOnTheCommandLine(t *testing.T) {
	w := admintest.New(t)
	c := &cliEnv{w, runnerOf(t, w.Serve())}
	list := c.OK("", "keys", "list")
	require.Contains(t, list, "SECRETS")
	require.Contains(t, list, "rotated "+formatTime(w.Now().Add(90*24*time.Hour).Std()))
	require.Equal(t, "key k9 is announced\n", c.OK("", "keys", "rotate"))
	c.Fails(ExitRefused, "this name is taken", "keys", "rotate")
}

// TestEmergencyOnTheCommandLine: the command reports what was done and what the operator
// still has to do.
func TestEmergencyOnTheCommandLine(t *testing.T) {
	w := admintest.New(t)
	var asked []string
	answer, failure := admin.Rotated{
		ID: "k2", Purpose: "signing", Dropped: "k1", Steps: []string{"key k2 is active in the place of k1", "key k1 is dropped"}, WaitingFor: []string{"n3"},
	}, error(nil)
	w.Replace = func(_ context.Context, leaked string) (admin.Rotated, error) {
		asked = append(asked, leaked)
		return answer, failure
	}
	c := &cliEnv{w, runnerOf(t, w.Serve())}
	r := c.Run("", "keys", "rotate", "--emergency", "k1")
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.Equal(t, "key k2 is active in the place of k1\nkey k1 is dropped\n", r.Out)
	require.Contains(t, r.Err, "node n3 has not opened key k2")
	require.Contains(t, r.Err, "as soon as verifiers fetch the keys again")

	answer = admin.Rotated{ID: "c2", Purpose: "credential", Dropped: "c1", LockedOut: []string{"old", "older"}, DroppedSecrets: []admin.DroppedSecret{
		{Client: "old", ID: "s1"}, {Client: "older", ID: "s2"}, {Client: "careful", ID: "s3"},
	}}
	r = c.Run("", "keys", "rotate", "--emergency", "c1")
	require.Equal(t, "key c1 was dropped before; nothing was done\n", r.Out)
	require.Contains(t, r.Err, "revoke one first): old, older\n")
	require.Contains(t, r.Err, "any more: careful (secret s3)\n")
	require.Equal(t, []string{"k1", "c1"}, asked)

	c.Fails(ExitLocal, "names the key that leaked", "keys", "rotate", "--emergency", "")
	c.Fails(ExitLocal, "names the key that leaked", "keys", "rotate", "--emergency", "k1", "--purpose", "signing")
	require.Len(t, asked, 2)

	failure = admintest.Rule("there is no key k7")
	c.Fails(ExitRefused, "there is no key k7", "keys", "rotate", "--emergency", "k7")
	failure = fmt.Errorf("replace: %w", interrupted{})
	c.Fails(ExitUnhealthy, "the same command again", "keys", "rotate", "--emergency", "k1")
}

type interrupted struct{}

func (interrupted) Error() string { return "interrupted" }
func (interrupted) Later() string { return "so far: nothing" }
func (interrupted) Unwrap() error { return rekey.ErrNotReplaced }
