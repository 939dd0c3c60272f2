package issuer_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// Hashes of client secrets by other programs: bcrypt by libxcrypt, PBKDF2 by OpenSSL, in the
// forms in which Hydra stores them.
const (
	bcryptOfHorse = "$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
	pbkdf2OfHydra = "$pbkdf2-sha256$i=25000,l=32$AAECAwQFBgcICQoLDA0ODw$Ypv6jfxmId4eOfYhkr0HHA4cDUIAY8DQ/j0RyX70J40"

	horse = "correct horse"
	hydra = "hydra-app-secret"
)

// importHydra makes a client whose secrets are hashes.
func importHydra(t *testing.T, i *issuer.Issuer, hashes ...string) *ledger.Client {
	t.Helper()
	secrets := make([]ledger.NewSecret, len(hashes))
	for n, hash := range hashes {
		var err error
		secrets[n], err = i.SecretOfHash(hash)
		require.NoError(t, err)
	}
	o, index, err := i.Propose(t.Context(), &ledger.ImportClient{
		ID: "hydra", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Secrets: secrets,
		Profile: ledger.Profile{Name: "Hydra", RedirectURIs: []string{issuertest.RedirectURI}, Scopes: []string{"PROFILE_READ"}},
	})
	require.NoError(t, err)
	require.Nil(t, o.Refusal)
	v, err := i.ViewAt(t.Context(), index)
	require.NoError(t, err)
	return v.Client("hydra")
}

// present sends a token request with a code that is not genuine. The error shows whether
// the client authenticated: invalid_grant if it did, otherwise invalid_client.
func present(t *testing.T, i *issuer.Issuer, secret string) oauth.Code {
	t.Helper()
	_, err := i.Token(t.Context(), oauth.TokenRequest{
		GrantType: oauth.AuthorizationCode, Client: oauth.ClientCredentials{ID: "hydra", Secret: secret}, Code: "x",
	})
	var refused *oauth.Error
	require.ErrorAs(t, err, &refused)
	return refused.Code
}

func TestHashedSecretIsUpgradedAtItsFirstUse(t *testing.T) {
	b := issuertest.New(t)
	var hashed atomic.Int32
	b.OnHashedSecret(func() { hashed.Add(1) })
	before := importHydra(t, b.Issuer, bcryptOfHorse, pbkdf2OfHydra)
	secretAt := func(n int) ledger.Secret { return b.View().Client("hydra").Secrets[n] }

	require.Equal(t, oauth.InvalidClient, present(t, b.Issuer, "wrong"))
	require.EqualValues(t, 2, hashed.Swap(0), "each hash is verified once")
	require.Equal(t, oauth.InvalidClient, present(t, b.Issuer, bcryptOfHorse), "a hash is no secret")
	require.EqualValues(t, 2, hashed.Swap(0))
	generated := "mms_" + strings.Repeat("A", 43)
	require.Equal(t, oauth.InvalidClient, present(t, b.Issuer, generated))
	require.Equal(t, oauth.InvalidClient, present(t, b.Issuer, ""))
	require.Equal(t, oauth.InvalidClient, present(t, b.Issuer, strings.Repeat("x", 1025)))
	require.Zero(t, hashed.Load(), "these requests compute no hash and are not limited")
	require.Equal(t, before, b.View().Client("hydra"))

	require.Equal(t, oauth.InvalidGrant, present(t, b.Issuer, hydra))
	require.EqualValues(t, 2, hashed.Swap(0))
	require.Empty(t, secretAt(1).Hash)
	require.NotZero(t, secretAt(1).Key)
	require.Equal(t, before.Secrets[1].ID, secretAt(1).ID)
	require.Equal(t, "cret", secretAt(1).Tail)
	require.Equal(t, bcryptOfHorse, secretAt(0).Hash)
	require.Equal(t, oauth.InvalidGrant, present(t, b.Issuer, hydra))
	require.Zero(t, hashed.Load(), "the second use is verified by its digest")

	var refused *oauth.Error
	require.ErrorAs(t, b.Revoke(t.Context(), oauth.PresentedToken{
		Client: oauth.ClientCredentials{ID: "hydra", Secret: horse}, Token: b.Exchange().RefreshToken,
	}), &refused)
	require.Equal(t, oauth.InvalidGrant, refused.Code, "the token is another client's")
	require.Empty(t, secretAt(0).Hash, "the revocation endpoint upgrades too")
}

func TestHashedSecretAtTheOtherEndpoints(t *testing.T) {
	b := issuertest.New(t)
	importHydra(t, b.Issuer, bcryptOfHorse)
	_, err := b.Introspect(t.Context(), oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "hydra", Secret: "wrong"}, Token: "x"})
	var refused *oauth.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, oauth.InvalidClient, refused.Code)
	a, err := b.Introspect(t.Context(), oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "hydra", Secret: horse}, Token: "x"})
	require.NoError(t, err)
	require.False(t, a.Active)
	require.Empty(t, b.View().Client("hydra").Secrets[0].Hash)
}

// TestRevokedHashedSecret revokes a secret before its first use, and during it.
func TestRevokedHashedSecret(t *testing.T) {
	b := issuertest.New(t)
	var during func()
	b.OnHashedSecret(func() {
		if during != nil {
			during()
		}
	})
	operator := ledger.Actor{Operator: true}
	c := importHydra(t, b.Issuer, bcryptOfHorse, pbkdf2OfHydra)
	b.Accept(&ledger.RevokeSecret{Actor: operator, Client: "hydra", Secret: c.Secrets[1].ID})
	require.Equal(t, oauth.InvalidClient, present(t, b.Issuer, hydra))
	require.Empty(t, b.View().Client("hydra").Secrets[1].Hash)

	own, err := b.Secret("another-secret-of-the-client")
	require.NoError(t, err)
	b.Accept(&ledger.AddSecret{Actor: operator, Client: "hydra", Secret: own})
	during = func() {
		during = nil
		b.Accept(&ledger.RevokeSecret{Actor: operator, Client: "hydra", Secret: c.Secrets[0].ID})
	}
	require.Equal(t, oauth.InvalidClient, present(t, b.Issuer, horse), "the secret matched, but was revoked before the upgrade was decided")
	for _, s := range b.View().Client("hydra").Secrets[:2] {
		require.NotZero(t, s.Revoked)
		require.Zero(t, s.Digest)
	}
}

// TestHashedSecretsAtOnce sends one secret many times concurrently. Each request is
// answered. Requests beyond the queue's limit are refused before a hash is computed.
func TestHashedSecretsAtOnce(t *testing.T) {
	b := issuertest.New(t)
	importHydra(t, b.Issuer, pbkdf2OfHydra)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { require.Equal(t, oauth.InvalidGrant, present(t, b.Issuer, hydra)) })
	}
	wg.Wait()

	importHydra(t, b.Issuer, bcryptOfHorse)
	most := b.HashPlaces()
	require.Equal(t, 16*max(1, runtime.NumCPU()/2), most)
	begun, release := make(chan struct{}, most), make(chan struct{})
	b.OnHashedSecret(func() { begun <- struct{}{}; <-release })
	for range most {
		wg.Go(func() { require.Equal(t, oauth.InvalidClient, present(t, b.Issuer, "wrong")) })
	}
	for range most {
		<-begun
	}
	_, err := b.Token(t.Context(), oauth.TokenRequest{
		GrantType: oauth.AuthorizationCode, Client: oauth.ClientCredentials{ID: "hydra", Secret: horse}, Code: "x",
	})
	require.ErrorIs(t, err, oauth.ErrUnavailable)
	require.Equal(t, bcryptOfHorse, b.View().Client("hydra").Secrets[0].Hash)
	close(release)
	wg.Wait()
	require.Equal(t, oauth.InvalidGrant, present(t, b.Issuer, horse))
}

// TestHashedSecretOverHTTP exchanges a code with the old secret at the real endpoint. The
// first use computes a hash and later uses do not. Wrong secrets are limited before they
// are hashed. The log and the responses contain neither secret nor hash.
func TestHashedSecretOverHTTP(t *testing.T) {
	b := issuertest.New(t)
	var hashed atomic.Int32
	b.OnHashedSecret(func() { hashed.Add(1) })
	secret, err := b.SecretOfHash(pbkdf2OfHydra)
	require.NoError(t, err)
	b.Accept(&ledger.AddSecret{Actor: ledger.Actor{Operator: true}, Client: "app", Secret: secret})
	var log strings.Builder
	var address atomic.Value
	address.Store("192.0.2.1")
	router := endpoint.NewRouter()
	v, err := verifier.New(verifier.Config{Issuer: b.View().Settings().BaseURL, Audience: "x", Keys: b.Keyring})
	require.NoError(t, err)
	endpoint.New(endpoint.Config{
		Server: b.Issuer, KeySet: b.Keyring.KeySet, Verifier: v, Log: slog.New(slog.NewTextHandler(&log, nil)), Now: b.Clock,
		ClientIP: func(*http.Request) string { return address.Load().(string) },
	}).Register(router)
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	var mu sync.Mutex
	var seen strings.Builder
	post := func(form url.Values) int {
		r, err := http.PostForm(server.URL+oauth.PathToken, form)
		require.NoError(t, err)
		defer func() { _ = r.Body.Close() }()
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		mu.Lock()
		defer mu.Unlock()
		seen.Write(body)
		return r.StatusCode
	}
	exchange := func(secret string) int {
		return post(url.Values{
			"grant_type": {"authorization_code"}, "client_id": {"app"}, "client_secret": {secret},
			"code": {b.NewCode()}, "redirect_uri": {issuertest.RedirectURI},
		})
	}
	require.Equal(t, http.StatusUnauthorized, exchange("wrong-secret"))
	require.EqualValues(t, 1, hashed.Swap(0))
	require.Equal(t, http.StatusOK, exchange(hydra))
	require.EqualValues(t, 1, hashed.Swap(0))
	require.Equal(t, http.StatusOK, exchange(hydra))
	require.Zero(t, hashed.Load())

	importHydra(t, b.Issuer, bcryptOfHorse)
	address.Store("198.51.100.7") // a network from which the client has not authenticated
	var wg sync.WaitGroup
	var throttled atomic.Int32
	for range 10 {
		wg.Go(func() {
			for range 20 {
				if post(url.Values{
					"grant_type": {"refresh_token"}, "client_id": {"hydra"}, "client_secret": {"a guess"}, "refresh_token": {"x"},
				}) == http.StatusTooManyRequests {
					throttled.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.NotZero(t, throttled.Load())
	require.EqualValues(t, 200, hashed.Load()+throttled.Load(), "guesses beyond the limit are not hashed")
	require.GreaterOrEqual(t, hashed.Load(), int32(100))
	for _, text := range []string{log.String(), seen.String()} {
		for _, hidden := range []string{hydra, pbkdf2OfHydra, bcryptOfHorse, "a guess"} {
			require.NotContains(t, text, hidden)
		}
	}
}

// TestHashedSecretOnAFollower imports clients through one node and uses their secrets
// immediately at another. One of the two is a follower, which may not have applied the
// import yet.
func TestHashedSecretOnAFollower(t *testing.T) {
	peers := issuertest.NewPeers(t)
	at, other := peers.All[1], peers.All[2]
	_, _, err := at.Issuer.Propose(t.Context(), &ledger.PutUser{ID: "u-alice", Username: "alice"})
	require.NoError(t, err)
	for n, hash := range []string{bcryptOfHorse, pbkdf2OfHydra} {
		secret := []string{horse, hydra}[n]
		importHydra(t, at.Issuer, hash)
		_, err := other.Issuer.Introspect(t.Context(), oauth.PresentedToken{Client: oauth.ClientCredentials{ID: "hydra", Secret: secret}, Token: "x"})
		require.NoError(t, err)
		v, err := at.Issuer.ViewFresh(t.Context())
		require.NoError(t, err)
		require.Empty(t, v.Client("hydra").Secrets[0].Hash)
		require.NotZero(t, v.Client("hydra").Secrets[0].Key)
		require.Equal(t, oauth.InvalidGrant, present(t, at.Issuer, secret))
		at, other = other, at
	}
	third, err := at.Issuer.SecretOfHash("$2b" + bcryptOfHorse[3:])
	require.NoError(t, err)
	_, _, err = at.Issuer.Propose(t.Context(), &ledger.AddSecret{Actor: ledger.Actor{Operator: true}, Client: "hydra", Secret: third})
	require.NoError(t, err)
	_, err = other.Issuer.ViewFresh(t.Context())
	require.NoError(t, err)
	require.Equal(t, oauth.InvalidClient, present(t, other.Issuer, "wrong"))
	require.Equal(t, oauth.InvalidGrant, present(t, other.Issuer, horse), "the client authenticated; the code is not genuine")
}
