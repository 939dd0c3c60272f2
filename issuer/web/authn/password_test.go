package authn_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// failingHasher returns errors, with results that the caller must ignore.
type failingHasher struct {
	authn.Passwords
	check map[string]error // by hash
	hash  error
}

func (h failingHasher) Check(ctx context.Context, hash, password string, dearest []ledger.HashCost) (bool, error) {
	if err := h.check[hash]; err != nil {
		return true, err
	}
	return h.Passwords.Check(ctx, hash, password, dearest)
}

func (h failingHasher) Hash(ctx context.Context, password string) (string, error) {
	if h.hash != nil {
		return "", h.hash
	}
	return h.Passwords.Hash(ctx, password)
}

// upgrading decides the upgrade of a hash, and leaves other commands to the ledger.
func upgrading(out ledger.Outcome, err error) func(command.Command) (*ledger.Outcome, error) {
	return func(c command.Command) (*ledger.Outcome, error) {
		if _, ok := c.(*ledger.UpgradePassword); ok {
			return &out, err
		}
		return nil, nil
	}
}

// TestUpgradeOfAHash verifies that an imported hash is replaced once its password was verified, and
// that nobody is signed in if that was not possible.
func TestUpgradeOfAHash(t *testing.T) {
	imported := PasswordHash()
	cost := ledger.HashCost{Kind: "bcrypt", Units: 16, Lanes: 1}
	for name, test := range map[string]struct {
		prepare func(w *Env)
		status  int
	}{
		"upgraded": {func(*Env) {}, http.StatusSeeOther},
		"not verified": {func(w *Env) {
			w.Web.Prover.Passwords = failingHasher{Passwords: w, check: map[string]error{imported: oauth.ErrUnavailable}}
		}, http.StatusServiceUnavailable},
		"not hashed":  {func(w *Env) { w.Web.Prover.Passwords = failingHasher{Passwords: w, hash: oauth.ErrUnavailable} }, http.StatusServiceUnavailable},
		"not decided": {func(w *Env) { w.Decide = upgrading(ledger.Outcome{}, oauth.ErrUnavailable) }, http.StatusServiceUnavailable},
		"unknown":     {func(w *Env) { w.Decide = upgrading(ledger.Outcome{Unknown: true}, nil) }, http.StatusServiceUnavailable},
		"refused, and no fresh view": {func(w *Env) {
			w.Decide = func(c command.Command) (*ledger.Outcome, error) {
				w.NoLeader = true
				return upgrading(ledger.Outcome{Refusal: &ledger.Refusal{Cause: ledger.PasswordChanged}}, nil)(c)
			}
		}, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			w.Must(&ledger.PutUser{ID: "u-kim", Username: "kim", Password: imported, PasswordCost: cost})
			b := w.Browser()
			page := b.Get("/auth/sign-in")
			test.prepare(w)
			assert.Equal(t, test.status, b.SignIn(page, "kim", Password).StatusCode)
			if test.status == http.StatusSeeOther {
				assert.Zero(t, w.UserByName("kim").PasswordCost)
				assert.Len(t, w.Hashed, 1, "the password is verified once")
				return
			}
			assert.Equal(t, cost, w.UserByName("kim").PasswordCost)
			assert.NotContains(t, b.Cookies, "mintmark")
		})
	}
}

// TestPasswordThatThisNodeLacks verifies that a password which was set elsewhere is verified like
// any other.
func TestPasswordThatThisNodeLacks(t *testing.T) {
	for name, test := range map[string]struct {
		typed  string
		fails  error
		status int
	}{
		"the new one":   {typed: Another, status: http.StatusSeeOther},
		"a wrong one":   {typed: "a guess", status: http.StatusUnprocessableEntity},
		"not verified":  {typed: Another, fails: oauth.ErrUnavailable, status: http.StatusServiceUnavailable},
		"a broken hash": {typed: Another, fails: credential.ErrHash, status: http.StatusUnprocessableEntity},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			w.Lag()
			w.Must(&ledger.SetPassword{Actor: Operator, User: "u-ada", Password: "hash of " + Another})
			w.Web.Prover.Passwords = failingHasher{Passwords: w, check: map[string]error{"hash of " + Another: test.fails}}
			b := w.Browser()
			res := b.SignIn(b.Get("/auth/sign-in"), "ada", test.typed)
			assert.Equal(t, test.status, res.StatusCode)
			_, signedIn := b.Cookies["mintmark"]
			assert.Equal(t, test.status == http.StatusSeeOther, signedIn)
			if test.fails != nil {
				assert.Contains(t, w.Log.String(), test.fails.Error())
			}
		})
	}
}

// TestDisabledAndDeletedUsers verifies that the right password of such a user is not even verified
// against its hash, so that it can't be told from a wrong one.
func TestDisabledAndDeletedUsers(t *testing.T) {
	for _, state := range []ledger.UserState{ledger.Disable, ledger.DeleteUser} {
		t.Run(string(state), func(t *testing.T) {
			w := NewEnv(t)
			w.SetUserState("u-ada", state)
			b := w.Browser()
			res := b.SignIn(b.Get("/auth/sign-in"), "ada", Password)
			require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Equal(t, []string{""}, w.Hashed)
			assert.Empty(t, w.Proposals)
		})
	}
}
