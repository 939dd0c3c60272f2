package apply_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/apply"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// hashes are bcrypt hashes of "correct horse" and of 80 times "x". They were made by
// libxcrypt.
var hashes = [2]string{
	"$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e",
	"$2a$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i",
}

// TestImportedPassword: a new user gets the imported hash as password. reset_password
// sets it again, until the user has signed in.
func TestImportedPassword(t *testing.T) {
	c := newCluster(t)
	file := func(hash, more string) string {
		return fmt.Sprintf("users: [{id: u-ada, username: ada, password_hash: %q%s}]", hash, more)
	}
	password := []apply.Field{{Name: "password", After: "(imported)"}}
	d := declaration(t, file(hashes[0], ""))
	p := c.plan(t, d, options)
	require.Equal(t, password, p.Steps[0].Fields)
	require.Empty(t, p.Warnings)
	shown, err := json.Marshal(p)
	require.NoError(t, err)
	require.NotContains(t, string(shown), "$2a$")
	c.apply(t, d, options)
	require.Empty(t, c.plan(t, d, options).Steps)
	require.NotContains(t, c.export(t), "$2a$")

	require.Empty(t, c.plan(t, declaration(t, file(hashes[1], "")), options).Steps, "the password is only set for a new user")
	d = declaration(t, file(hashes[1], ", reset_password: true"))
	require.Equal(t, password, c.plan(t, d, options).Steps[0].Fields)
	c.apply(t, d, options)
	require.Equal(t, hashes[1], c.View().User("u-ada").Password)
	require.Empty(t, c.plan(t, d, options).Steps)

	c.Do(&ledger.UpgradePassword{User: "u-ada", VerifiedHash: sha256.Sum256([]byte(hashes[1])), Password: "own"})
	require.Empty(t, c.plan(t, d, options).Steps, "the user has signed in")
	require.Empty(t, c.plan(t, declaration(t, file(hashes[0], ", reset_password: true")), options).Steps)
	require.Equal(t, "own", c.View().User("u-ada").Password)
}

// TestImportedSecrets: an apply recognises secrets of another system by their hashes,
// before and after their first use. It never restores a revoked secret.
func TestImportedSecrets(t *testing.T) {
	c := newCluster(t)
	c.apply(t, declaration(t, "users: [{username: ada}]"), options)
	file := func(secrets string) string {
		return `clients: [{id: app, name: App, owner: ada, redirect_uris: ["https://app.example/"], scopes: [PROFILE_READ], ` + secrets + "}]"
	}
	two := declaration(t, file(fmt.Sprintf("secret_hashes: [%q, %q]", hashes[0], hashes[1])))
	p := c.plan(t, two, options)
	require.Contains(t, p.Steps[0].Fields, apply.Field{Name: "secrets", Added: []string{"the one of secret_hashes[0]", "the one of secret_hashes[1]"}})
	c.apply(t, two, options)
	require.Empty(t, c.plan(t, two, options).Steps)
	require.NotContains(t, c.export(t), "$2a$")

	rows := c.View().Client("app").Secrets
	own, err := c.Secret("plain")
	require.NoError(t, err)
	own.ID = rows[0].ID
	c.Do(&ledger.UpgradeSecret{Client: "app", VerifiedHash: sha256.Sum256([]byte(hashes[0])), Secret: own})
	require.Empty(t, c.plan(t, two, options).Steps, "after the first use")
	require.Empty(t, c.plan(t, declaration(t, file(fmt.Sprintf("secret: plain, secret_hash: %q", hashes[1]))), options).Steps, "the same secret, as plain text")

	one := declaration(t, file(fmt.Sprintf("secret_hash: %q", hashes[0])))
	require.Equal(t, []string{rows[1].ID}, c.plan(t, one, options).Steps[0].Fields[0].Removed)
	c.apply(t, one, options)
	state, err := apply.ReadState(t.Context(), c.c, two, options)
	require.NoError(t, err)
	_, err = apply.New(two, state, options)
	require.ErrorIs(t, err, apply.ErrSecretGone)
	require.ErrorContains(t, err, "secret_hashes[1] was revoked")
}

// TestManyPasswords: a plan can compare more passwords than one admin operation accepts.
func TestManyPasswords(t *testing.T) {
	c := newCluster(t)
	var users, again strings.Builder
	for i := range 2*admin.MaxPasswordChecks + 1 {
		fmt.Fprintf(&users, "  - {username: user-%d, password_hash: %q}\n", i, hashes[0])
		fmt.Fprintf(&again, "  - {username: user-%d, password: \"another secret word\", reset_password: true}\n  - {username: other-%d}\n", i, i)
	}
	c.apply(t, declaration(t, "users:\n"+users.String()), options)
	p := c.plan(t, declaration(t, "users:\n"+again.String()), options)
	require.Equal(t, 2*admin.MaxPasswordChecks+1, p.Count(apply.Change), "the password of every user differs")
	require.Equal(t, 2*admin.MaxPasswordChecks+1, p.Count(apply.Add))
}
