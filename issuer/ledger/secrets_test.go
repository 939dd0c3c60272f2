package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestSecretBecomesActive verifies which digest a revoked secret has after a replay of its return: its
// own, unless its hash was removed when it was revoked.
func TestSecretBecomesActive(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "import app owner=alice scopes=PROFILE_READ revoked=keyed,hash:a"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	w.must(&ledger.BeginRestore{})
	added := func(id string) ledger.Effect {
		return ledger.Effect{Kind: ledger.EffectSecretAdded, Client: "app", Secret: &ledger.NewSecret{ID: id, Key: 2, Digest: digestUnder(2, id)}}
	}
	w.must(&ledger.Replay{Backup: 2, Records: []ledger.Record{{Seq: 3, At: 1, Effects: []ledger.Effect{added("keyed"), added("hash:a")}}}})
	for i, want := range []ledger.Secret{{ID: "keyed", Key: 1, Digest: digestUnder(1, "keyed")}, {ID: "hash:a", Key: 2, Digest: digestUnder(2, "hash:a")}} {
		got := w.view().Client("app").Secrets[i]
		require.True(t, got.Active())
		require.Equal(t, want, ledger.Secret{ID: got.ID, Key: got.Key, Digest: got.Digest})
	}
}

// TestSecretsOfAllHolders verifies that secrets of clients and resource servers are counted, and
// that a replay keeps a key as long as any of them needs it.
func TestSecretsOfAllHolders(t *testing.T) {
	client := func(id string, s ...ledger.Secret) *ledger.Client {
		return &ledger.Client{ID: id, Type: ledger.Confidential, State: ledger.Approved, Secrets: s}
	}
	server := func(id string, s ...ledger.Secret) *ledger.ResourceServer {
		return &ledger.ResourceServer{ID: id, Name: id, Secrets: s}
	}
	one := ledger.Secret{ID: "s", Key: 1}
	for name, test := range map[string]struct {
		clients []*ledger.Client
		servers []*ledger.ResourceServer
		want    int
	}{
		"none":             {[]*ledger.Client{client("a")}, []*ledger.ResourceServer{server("r")}, 0},
		"first client":     {[]*ledger.Client{client("a", one), client("b")}, []*ledger.ResourceServer{server("r")}, 1},
		"all clients":      {[]*ledger.Client{client("a", one), client("b", one)}, nil, 2},
		"first server":     {[]*ledger.Client{client("a")}, []*ledger.ResourceServer{server("q", one), server("r")}, 1},
		"last server":      {nil, []*ledger.ResourceServer{server("q"), server("r", one)}, 1},
		"another's secret": {[]*ledger.Client{client("a", ledger.Secret{ID: "s", Key: 2})}, nil, 0},
	} {
		v := viewOf(t, tableOf(ledger.TableClients, test.clients), tableOf(ledger.TableResourceServers, test.servers), tableOf(ledger.TableKeys, []*ledger.Key{
			{ID: "c1", Purpose: ledger.ForCredentials, State: ledger.KeyRetiring, Number: 1}, {ID: "c2", Purpose: ledger.ForCredentials, State: ledger.KeyActive, Number: 2},
		}))
		require.Equal(t, test.want, v.SecretsUnder(1, 1), name)
		p, refused := v.PreviewReplay(0, []ledger.Record{{Seq: 1, At: 1, Effects: []ledger.Effect{{Kind: ledger.EffectKeyDropped, ID: "c1"}}}})
		require.Nil(t, refused)
		require.Equal(t, test.want > 0, len(p.Keyring) == 2, name)
	}
}
