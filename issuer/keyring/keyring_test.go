package keyring_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestRotationOfSigningKeys takes a key through all steps with the leader's duties, and
// verifies what verifiers see after each.
func TestRotationOfSigningKeys(t *testing.T) {
	b := issuertest.New(t)
	first := b.ActiveKey(ledger.ForSigning)
	require.Equal(t, first, issuertest.KeyID(t, b.Exchange().AccessToken))
	require.Equal(t, 300*time.Second, b.Keyring.KeySet().MaxAge)

	second, err := b.Keyring.Rotate(t.Context(), ledger.ForSigning)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		body := string(b.Keyring.KeySet().Body)
		return strings.Contains(body, first) && strings.Contains(body, second)
	}, 10*time.Second, 10*time.Millisecond, "a key is published before it is used")
	require.Equal(t, first, issuertest.KeyID(t, b.Exchange().AccessToken))

	b.Keyring.Step(t.Context())
	require.Equal(t, first, b.ActiveKey(ledger.ForSigning), "the key became active before two max-ages had passed")

	b.Offset.Store(int64(601 * time.Second))
	require.LessOrEqual(t, b.Keyring.KeySet().MaxAge, 300*time.Second)
	require.Eventually(t, func() bool {
		b.Keyring.Step(t.Context())
		return b.ActiveKey(ledger.ForSigning) == second
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, second, issuertest.KeyID(t, b.Exchange().AccessToken))
	require.Contains(t, string(b.Keyring.KeySet().Body), first, "an unexpired token may be signed with the key")

	b.Offset.Store(int64((601 + 1859) * time.Second))
	b.Keyring.Step(t.Context())
	require.Contains(t, string(b.Keyring.KeySet().Body), first)
	b.Offset.Store(int64((601 + 1900) * time.Second))
	require.Eventually(t, func() bool {
		b.Keyring.Step(t.Context())
		return !strings.Contains(string(b.Keyring.KeySet().Body), first)
	}, 10*time.Second, 10*time.Millisecond)
}

// TestRotationOfCredentialKeys verifies that a rotation signs nobody out.
func TestRotationOfCredentialKeys(t *testing.T) {
	b := issuertest.New(t)
	before := b.Exchange()
	attempt, device := b.SealAttempt([]byte("a sign-in elsewhere")), b.SealDevice([]byte("a browser"))
	session, lag := b.SealSession([]byte("a session")), b.Keyring.Lag()
	settings := *b.View().Settings()
	settings.Agents = ledger.AgentsListed
	b.Accept(&ledger.Configure{Settings: settings})
	b.Accept(&ledger.PutPublisher{Actor: ledger.Actor{Operator: true}, Host: ledger.LocalPublisher, Scopes: []string{"PROFILE_READ"}})
	id, err := b.Keyring.Rotate(t.Context(), ledger.ForCredentials)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		b.Keyring.Step(t.Context())
		return b.ActiveKey(ledger.ForCredentials) == id
	}, 10*time.Second, 10*time.Millisecond)

	opened, err := b.OpenAttempt(attempt)
	require.NoError(t, err, "a sign-in that began before the rotation")
	require.Equal(t, "a sign-in elsewhere", string(opened))
	_, err = b.OpenAttempt(b.ErrorID("c", ledger.Refusal{})[4:])
	require.Error(t, err, "a text that was sealed for another purpose")
	opened, err = b.OpenDevice(device)
	require.NoError(t, err)
	require.Equal(t, "a browser", string(opened))
	_, err = b.OpenDevice(attempt)
	require.Error(t, err, "a text that was sealed for another purpose")
	opened, err = b.OpenSession(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, "a session", string(opened))
	_, err = b.OpenSession(t.Context(), device)
	require.Error(t, err)
	younger := b.SealSession([]byte("a younger session"))
	lag()
	opened, err = b.OpenSession(t.Context(), younger)
	require.NoError(t, err, "a node without the key must ask for it")
	require.Equal(t, "a younger session", string(opened))
	registered, refused := b.Register(oauth.Registration{Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/cb"}})
	require.Nil(t, refused)
	lag()
	require.NotNil(t, b.Registration(t.Context(), registered), "a node without the key must ask for it")

	r, err := b.Refresh(before.RefreshToken)
	require.NoError(t, err, "a token and a secret under the older key")
	r, err = b.Refresh(r.RefreshToken)
	require.NoError(t, err)
	_, err = b.Refresh(before.RefreshToken)
	require.Error(t, err, "reuse across a rotation must be detected")
	_, err = b.Refresh(r.RefreshToken)
	require.Error(t, err)
}

func TestRefusedRotation(t *testing.T) {
	b := issuertest.New(t)
	announced, err := b.Keyring.Rotate(t.Context(), ledger.ForSigning)
	require.NoError(t, err)
	for _, again := range []func() error{
		func() error { _, err := b.Keyring.Rotate(t.Context(), ledger.ForSigning); return err },
		func() error { _, err := b.Keyring.Add(t.Context(), ledger.ForSigning); return err },
	} {
		var refused keyring.Refused
		require.ErrorAs(t, again(), &refused)
		require.NotEmpty(t, refused.Refusal())
	}
	require.NotEqual(t, announced, b.ActiveKey(ledger.ForSigning))
}
