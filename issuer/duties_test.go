package issuer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestSecretsEnd verifies that the leader revokes a secret when its end has come, and not before.
func TestSecretsEnd(t *testing.T) {
	b := issuertest.New(t)
	secret, err := b.Secret("another-secret")
	require.NoError(t, err)
	old := b.View().Client("app").Secrets[0].ID
	b.Accept(&ledger.AddSecret{Actor: ledger.Actor{Operator: true}, Client: "app", Secret: secret, EndOld: time.Hour})
	b.EndSecrets(t.Context())
	require.Equal(t, 2, b.View().Client("app").ActiveSecrets())

	b.Offset.Store(int64(time.Hour))
	require.Eventually(t, func() bool { return !b.View().Client("app").SecretOf(old).Active() }, 10*time.Second, 10*time.Millisecond,
		"the duty runs every few seconds")
	require.True(t, b.View().Client("app").SecretOf(secret.ID).Active())
	require.Equal(t, old+" at its end", b.View().LastEvent().Detail)
	last := b.View().Client("app").Last
	b.EndSecrets(t.Context())
	require.Equal(t, last, b.View().Client("app").Last)
}
