package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestManyResourceServers verifies that at most a thousand resource servers can be
// registered, by either command, and that existing ones can still be changed.
func TestManyResourceServers(t *testing.T) {
	w := newEnv(t)
	operator := ledger.Actor{Operator: true}
	do := func(n int, c command.Command) ledger.Cause { // skips the checks of env.do, which walk all rows
		value, _ := w.memory.Do(c, command.ID(id16(fmt.Sprint(n))), false)
		if r := value.(ledger.Outcome).Refusal; r != nil {
			return r.Cause
		}
		return ledger.NoCause
	}
	id := func(n int) string { return fmt.Sprintf("https://r%d.example", n) }
	put := func(n int) command.Command {
		return &ledger.PutResourceServer{Actor: operator, ID: id(n), Name: fmt.Sprint("r", n)}
	}
	apply := func(n int) *ledger.ApplyResourceServer {
		return &ledger.ApplyResourceServer{Actor: operator, ID: id(n), Name: fmt.Sprint("r", n), Manager: "apply"}
	}
	for n := range 999 {
		require.Equal(t, ledger.NoCause, do(n, put(n)))
	}
	require.Equal(t, ledger.NoCause, do(999, apply(999)))
	require.Equal(t, ledger.TooManyResources, do(1000, put(1000)))
	require.Equal(t, ledger.TooManyResources, do(1001, apply(1001)))
	edit := &ledger.PutResourceServer{Actor: operator, ID: id(3), Name: "r3", Scopes: []string{"PROFILE_READ"}}
	require.Equal(t, ledger.NoCause, do(1002, edit))
	change := apply(999)
	change.Scopes, change.ExpectedLast = []string{"PROFILE_READ"}, w.view().ResourceServer(id(999)).Last
	require.Equal(t, ledger.NoCause, do(1003, change))
	require.Equal(t, []string{"PROFILE_READ"}, w.view().ResourceServer(id(999)).Scopes)
	require.Equal(t, ledger.NoCause, do(1004, &ledger.RemoveResourceServer{Actor: operator, ID: id(3)}))
	require.Equal(t, ledger.NoCause, do(1005, put(1000)))
}

// TestNoResourceServer verifies that an empty identifier or name matches no resource
// server.
func TestNoResourceServer(t *testing.T) {
	w := newEnv(t)
	w.must(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: "https://r.example", Name: "r"})
	require.Nil(t, w.view().ResourceServer(""))
	require.Nil(t, w.view().ResourceServerNamed(""))
	require.NotNil(t, w.view().ResourceServerNamed("R"))
}

// TestHashesAreTexts verifies the ledger's bounds on hashes of another system. Package
// credential has parsed them before.
func TestHashesAreTexts(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	for hash, note := range map[string]string{
		strings.Repeat("x", 256): "",
		strings.Repeat("x", 257): "has a hash that is too long",
		"a b":                    "has a hash that has a character that no hash has",
		"a\nb":                   "has a hash that has a character that no hash has",
		"é":                      "has a hash that has a character that no hash has",
	} {
		o, _ := w.do(&ledger.ImportClient{
			ID: "app", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Secrets: []ledger.NewSecret{{ID: "s", Hash: hash}},
			Profile: ledger.Profile{Name: "App", RedirectURIs: []string{"https://app.example/cb"}, Scopes: []string{"PROFILE_READ"}},
		}, "", false)
		if note == "" {
			require.Nil(t, o.Refusal, hash)
			continue
		}
		require.Equal(t, note, o.Refusal.Note)
	}
	o, _ := w.do(&ledger.PutUser{ID: "u-bob", Username: "bob", PasswordCost: ledger.HashCost{Kind: "bcrypt", Units: 4}}, "", false)
	require.Equal(t, "is empty", o.Refusal.Note)
}

// TestHashedSecrets verifies which clients need hashes verified: those that present a
// secret and have not authenticated by a digest.
func TestHashedSecrets(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.run("import own owner=alice secrets=s1 scopes=PROFILE_READ")
	w.run("import app owner=alice secrets=hash:a,s1 scopes=PROFILE_READ")
	w.run("import public owner=alice type=public scopes=PROFILE_READ")
	w.run("import gone owner=alice secrets=hash:g scopes=PROFILE_READ")
	w.run("delete gone")
	w.run("import rolled owner=alice secrets=hash:old,hash:new scopes=PROFILE_READ")
	w.run("revoke-secret rolled secret=hash:old")
	auth := func(client, secret string) ledger.ClientAuth {
		return ledger.ClientAuth{Client: client, Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: digestUnder(1, secret)}}}
	}
	for name, test := range map[string]struct {
		auth   ledger.ClientAuth
		needed bool
		want   []string
	}{
		"its digest matches":             {auth("app", "s1"), false, nil},
		"another secret":                 {auth("app", "x"), true, []string{"hash:a"}},
		"no hash, and a wrong secret":    {auth("own", "x"), true, nil},
		"no secret":                      {ledger.ClientAuth{Client: "app"}, false, nil},
		"its digest can not be computed": {ledger.ClientAuth{Client: "app", Secret: true, Digests: []ledger.Digest{{Key: 2}}}, false, nil},
		"a public client":                {auth("public", "x"), false, nil},
		"a deleted client":               {auth("gone", "x"), false, nil},
		"one that is not here yet":       {auth("nobody", "x"), true, nil},
		"one of its hashes was revoked":  {auth("rolled", "x"), true, []string{"hash:new"}},
	} {
		list, needed := w.view().HashedSecrets(test.auth)
		require.Equal(t, test.needed, needed, name)
		var ids []string
		for _, s := range list {
			ids = append(ids, s.ID)
		}
		require.Equal(t, test.want, ids, name)
	}

	upgrade := &ledger.UpgradeSecret{Client: "app", VerifiedHash: digestUnder(1, "hash:a"), Secret: ledger.NewSecret{ID: "hash:a", Key: 1, Hash: "another hash"}}
	o, _ := w.do(upgrade, "", false)
	require.Equal(t, ledger.KeyNotRecorded, o.Refusal.Cause, "a hash is no digest")
	upgrade.Secret.Hash, upgrade.Client = "", "gone"
	o, _ = w.do(upgrade, "", false)
	require.Equal(t, ledger.NotFound, o.Refusal.Cause)
}
