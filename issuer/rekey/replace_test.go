package rekey_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/rekey"
)

func TestReplaceASigningKey(t *testing.T) {
	b := issuertest.New(t)
	leaked := b.ActiveKey(ledger.ForSigning)
	r, err := b.Rekey.Replace(t.Context(), leaked)
	require.NoError(t, err)
	require.Len(t, r.Steps, 3)
	require.Equal(t, r.Active, b.ActiveKey(ledger.ForSigning))
	require.Empty(t, r.WaitingFor)
	require.NotContains(t, string(b.Keyring.KeySet().Body), leaked)
	require.Equal(t, r.Active, issuertest.KeyID(t, b.Exchange().AccessToken))
}

func TestReplaceACredentialKey(t *testing.T) {
	b := issuertest.New(t)
	first, err := b.Secret("another-secret")
	require.NoError(t, err)
	b.Accept(&ledger.ImportClient{
		ID: "idle", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Secrets: []ledger.NewSecret{first},
		Profile: ledger.Profile{Name: "Idle", RedirectURIs: []string{issuertest.RedirectURI}, Scopes: []string{"PROFILE_READ"}},
	})
	b.Accept(&ledger.ImportClient{
		ID: "two", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Secrets: []ledger.NewSecret{first},
		Profile: ledger.Profile{Name: "Two", RedirectURIs: []string{issuertest.RedirectURI}, Scopes: []string{"PROFILE_READ"}},
	})
	second, err := b.Keyring.Rotate(t.Context(), ledger.ForCredentials)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		b.Keyring.Step(t.Context())
		return b.ActiveKey(ledger.ForCredentials) == second
	}, 10*time.Second, 10*time.Millisecond)
	token := b.Exchange().RefreshToken // records the client's secret under the second key

	newer, err := b.Secret("a-secret-of-late")
	require.NoError(t, err)
	b.Accept(&ledger.AddSecret{Actor: ledger.Actor{Operator: true}, Client: "two", Secret: newer})

	r, err := b.Rekey.Replace(t.Context(), "c1")
	require.NoError(t, err)
	require.Equal(t, []string{"key c1 is dropped"}, r.Steps)
	require.Equal(t, []ledger.SecretHolder{{Client: "idle"}}, r.LockedOut)
	lost := []ledger.DroppedSecret{{SecretHolder: ledger.SecretHolder{Client: "idle"}, Secret: first.ID}, {SecretHolder: ledger.SecretHolder{Client: "two"}, Secret: first.ID}}
	require.Equal(t, lost, r.DroppedSecrets)
	again, err := b.Rekey.Replace(t.Context(), "c1")
	require.NoError(t, err)
	require.Equal(t, lost, again.DroppedSecrets, "a repeated call must report the dropped secrets again")
	two := b.View().Client("two")
	require.True(t, b.View().KeyDropped(&two.Secrets[0]))
	require.False(t, b.View().KeyDropped(&two.Secrets[1]))
	require.NotEmpty(t, b.View().GrantsOf("u-alice", b.Now()))
	next, err := b.Refresh(token)
	require.NoError(t, err, "the token and the secret are under the second key")

	var refused *oauth.Error
	_, err = b.Token(t.Context(), oauth.TokenRequest{
		GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "idle", Secret: "another-secret"}, RefreshToken: token,
	})
	require.ErrorAs(t, err, &refused, "not a 503, which would make the client retry forever")
	require.Equal(t, oauth.InvalidClient, refused.Code)
	e, err := b.Explain(refused.ID)
	require.NoError(t, err)
	require.Equal(t, ledger.SecretKeyDropped, e.Cause)

	_, err = b.Rekey.Replace(t.Context(), second)
	require.NoError(t, err)
	_, err = b.Refresh(next.RefreshToken)
	require.ErrorAs(t, err, &refused, "the grant is due under the leaked key")
	require.Empty(t, b.View().GrantsOf("u-alice", b.Now()), "such a grant must not be listed")
	for g := range b.View().Grants() {
		require.Equal(t, ledger.KeyNotRecorded, b.View().GrantUnredeemable(g))
	}
}

// TestReplaceGoesOn verifies that repeating a request that was interrupted after any step
// finishes it, and affects no other key.
func TestReplaceGoesOn(t *testing.T) {
	for _, p := range []ledger.Purpose{ledger.ForSigning, ledger.ForCredentials} {
		for done, want := range []int{3, 2, 1, 0} {
			b := issuertest.New(t)
			leaked := b.ActiveKey(p)
			var next string
			steps := []func(){
				func() {
					var err error
					next, err = b.Keyring.Add(t.Context(), p)
					require.NoError(t, err)
				},
				func() {
					require.Eventually(t, func() bool {
						n := b.View().Node(b.Node.ID())
						return n != nil && n.HasOpened(next)
					}, 10*time.Second, 10*time.Millisecond)
					b.Accept(&ledger.ActivateKey{ID: next, Voters: []string{b.Node.ID()}, Emergency: true})
				},
				func() { b.Accept(&ledger.DropKey{ID: leaked, Emergency: true}) },
			}
			for _, step := range steps[:done] {
				step()
			}
			r, err := b.Rekey.Replace(t.Context(), leaked)
			require.NoError(t, err)
			if done < 2 {
				require.LessOrEqual(t, len(r.Steps), want, "a duty may have taken some of the steps")
				require.Contains(t, r.Steps, "key "+leaked+" is dropped")
			} else {
				require.Len(t, r.Steps, want, "%s, after %d steps", p, done)
			}
			require.Equal(t, p, r.Purpose)
			require.Equal(t, b.ActiveKey(p), r.Active)
			if done > 0 {
				require.Equal(t, next, r.Active, "the announced key must be used")
			}
			again, err := b.Rekey.Replace(t.Context(), leaked)
			require.NoError(t, err)
			require.Empty(t, again.Steps)
			require.Equal(t, r.Active, again.Active)
			kept := 0
			for k := range b.View().Keys() {
				if k.Purpose == p {
					kept++
				}
			}
			require.Equal(t, 1, kept)
		}
	}
}

// TestReplaceAnAnnouncedKey verifies that an announced key is dropped directly, since it
// was never used.
func TestReplaceAnAnnouncedKey(t *testing.T) {
	b := issuertest.New(t)
	active := b.ActiveKey(ledger.ForCredentials)
	announced, err := b.Keyring.Add(t.Context(), ledger.ForCredentials)
	require.NoError(t, err)
	r, err := b.Rekey.Replace(t.Context(), announced)
	require.NoError(t, err)
	require.Equal(t, active, r.Active)
	next, err := b.Keyring.Add(t.Context(), ledger.ForCredentials)
	require.NoError(t, err)
	require.NotEqual(t, announced, next)
}

// TestReplaceTellsHowFarItCame verifies that a replacement which stops for lack of a
// majority reports the steps that are left.
func TestReplaceTellsHowFarItCame(t *testing.T) {
	c := issuertest.NewPeers(t)
	leaked := c.All[0].Issuer.View().ActiveKey(ledger.ForSigning).ID
	c.All[1].Stop()
	c.All[2].Stop()
	_, err := c.All[0].Issuer.Rekey.Replace(t.Context(), leaked)
	var unfinished *rekey.UnfinishedError
	require.ErrorAs(t, err, &unfinished)
	require.Contains(t, unfinished.Later(), "key "+leaked+" is dropped")
	require.ErrorIs(t, err, rekey.ErrNotReplaced)
}

func TestReplaceAnUnknownKey(t *testing.T) {
	b := issuertest.New(t)
	_, err := b.Rekey.Replace(t.Context(), "c7")
	var missing rekey.NoKeyError
	require.ErrorAs(t, err, &missing)
}
