package keyring_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/keys"
)

// TestFirstKeysOfBootstrapNodes verifies that nodes that start together add one key of
// each purpose.
func TestFirstKeysOfBootstrapNodes(t *testing.T) {
	for range 3 {
		nodes := bootstrapNodes(t)
		all := make([]*issuer.Issuer, len(nodes))
		var starting sync.WaitGroup
		for i, n := range nodes {
			starting.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				var err error
				all[i], err = issuer.New(ctx, issuer.Config{
					Node: n.node, ClusterKeys: n.keys, Version: "test", Log: slog.New(slog.DiscardHandler), Now: time.Now, Rand: rand.Reader,
				})
				require.NoError(t, err)
			})
		}
		starting.Wait()
		view, err := all[0].ViewFresh(t.Context())
		require.NoError(t, err)
		made := map[ledger.Purpose][]ledger.KeyState{}
		for k := range view.Keys() {
			made[k.Purpose] = append(made[k.Purpose], k.State)
		}
		require.Equal(t, map[ledger.Purpose][]ledger.KeyState{
			ledger.ForSigning: {ledger.KeyActive}, ledger.ForCredentials: {ledger.KeyActive},
		}, made)
		for i, n := range nodes {
			all[i].Close()
			require.NoError(t, n.node.Close(t.Context()))
		}
	}
}

type bootstrapNode struct {
	node *cluster.Node
	keys *keys.ClusterKeys
}

// bootstrapNodes returns three nodes of a static bootstrap.
func bootstrapNodes(t *testing.T) []bootstrapNode {
	t.Helper()
	key, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	held := keys.FixedClusterKey(key, "a test")
	var folders []member.InitialNode
	var listeners []net.Listener
	for _, name := range []string{"n1", "n2", "n3"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		listeners = append(listeners, l)
		folders = append(folders, member.InitialNode{Dir: filepath.Join(t.TempDir(), "raft"), Name: name, Address: l.Addr().String()})
	}
	require.NoError(t, member.StaticBootstrap(folders, issuertest.Sealing{Keys: held}, time.Now()))
	nodes := make([]bootstrapNode, len(folders))
	var opening sync.WaitGroup
	for i, f := range folders {
		opening.Go(func() {
			n, err := cluster.Open(t.Context(), cluster.Config{
				Dir: f.Dir, Machine: replica.Machine(), Logger: slog.New(slog.DiscardHandler), Name: f.Name, Version: "test",
				Network: &transport.Endpoint{Listener: listeners[i], Advertise: f.Address}, Secrets: issuertest.Sealing{Keys: held},
			})
			require.NoError(t, err)
			nodes[i] = bootstrapNode{n, held}
		})
	}
	opening.Wait()
	return nodes
}
