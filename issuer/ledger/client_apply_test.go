package ledger_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestDeclaredSecrets verifies how a declaration recognises secrets of a client, under whichever key
// they are recorded, and what it refuses.
func TestDeclaredSecrets(t *testing.T) {
	w := newEnv(t)
	require.Equal(t, "ok", w.run("user alice"))
	require.Equal(t, "ok", w.run("add-key c2 purpose=credential number=2"))
	apply := func(secrets ...ledger.DeclaredSecret) (ledger.Outcome, bool) {
		c := w.command(parseLine("apply app owner=alice scopes=PROFILE_READ")).(*ledger.ApplyClient)
		c.NamesSecrets, c.Secrets = true, secrets
		return w.do(c, "", false)
	}
	app := func() ledger.Secrets { return w.view().Client("app").Secrets }
	a, b, c := declaredSecret("a"), declaredSecret("b"), declaredSecret("c")
	b.New.Key, b.New.Digest = 2, digestUnder(2, "b")
	_, changed := apply(a, b)
	require.True(t, changed)
	require.Equal(t, uint32(2), app()[1].Key)
	again := declaredSecret("b") // under the key of the first one
	_, changed = apply(a, again)
	require.False(t, changed)
	require.Equal(t, "b", again.In(app()).ID)
	require.Nil(t, c.In(app()))

	_, changed = apply(b)
	require.True(t, changed)
	revoked := app()[0]
	w.run("now +1h")
	_, changed = apply(b, c)
	require.True(t, changed)
	require.Equal(t, revoked, app()[0], "a secret was revoked again")

	taken := declaredSecret("d")
	taken.New.ID = "b"
	both := declaredSecret("hash:x")
	both.New.Key = 1
	long := declaredSecret("e")
	long.New.Name = strings.Repeat("x", ledger.MaxSecretName+1)
	for want, secret := range map[string]ledger.DeclaredSecret{
		"": taken, "has a hash and a digest of one secret": both, "has a name that is too long: 41 characters, at most 40": long,
	} {
		o, changed := apply(b, secret)
		require.False(t, changed)
		require.Equal(t, want, o.Refusal.Note)
		require.Equal(t, want == "", o.Refusal.Cause == ledger.AlreadyExists)
	}
}

// TestAppliedDetailIsClipped verifies that a declaration of long addresses makes no longer event than
// the audit trail permits.
func TestAppliedDetailIsClipped(t *testing.T) {
	w := newEnv(t)
	require.Equal(t, "ok", w.run("user alice"))
	require.Equal(t, "ok", w.run("apply app owner=alice scopes=PROFILE_READ"))
	require.Equal(t, "ok", w.run("apply app owner=alice scopes=PROFILE_READ website=https://a.example/"+strings.Repeat("a", 1000)))
	detail := w.view().LastEvent().Detail
	require.LessOrEqual(t, len(detail), 1003)
	require.True(t, strings.HasSuffix(detail, "aaa…"), detail)
}

// TestAppliedTwice verifies that a repetition of an accepted declaration is accepted, also if the
// settings have changed and would refuse it now.
func TestAppliedTwice(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	c := w.command(parseLine("apply app owner=alice scopes=PROFILE_READ"))
	_, changed := w.do(c, "once", false)
	require.True(t, changed)
	s := *w.view().Settings()
	s.AppURL = "https://app.example" // the client's redirect URI is the service's own now
	o, changed := w.do(&ledger.Configure{Settings: s}, "", false)
	require.True(t, changed)
	require.Nil(t, o.Refusal)
	o, changed = w.do(c, "once", true)
	require.False(t, changed)
	require.Nil(t, o.Refusal)
}
