package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
)

// TestNodeIsTheOneThatIsMeant: a node with a configured name neither joins with an
// invitation for another name, which stays valid, nor starts on the data of another node.
func TestNodeIsTheOneThatIsMeant(t *testing.T) {
	first := newCluster(t, "n1")
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) { require.NoError(t, os.WriteFile(file, []byte(token), 0o600)) }
	of3 := first.invite(t, "n3")
	write(of3)
	second := newNode(t, "n2")
	second.launch(t, "--join", first.Raft, "--token-file", file)
	second.requireStatus(t, "join refused: the join token is for node n3, and the name of this node is n2")
	write(first.invite(t, "n2"))
	require.True(t, second.WaitReady(30*time.Second))

	// The refused token was not used up.
	write(of3)
	third := newNode(t, "n3")
	third.launch(t, "--join", first.Raft, "--token-file", file)
	require.True(t, third.WaitReady(30*time.Second))

	second.Kill()
	o := config.Default()
	o.Name, o.Named, o.DataDir = "n5", true, second.Dir
	o.Listen, o.OpsListen, o.ClusterListen = second.Public, second.Ops, second.Raft
	c, err := server.FromOptions(&o, version, o.Logger(io.Discard))
	require.NoError(t, err)
	_, err = server.Start(t.Context(), c)
	require.ErrorContains(t, err, "the data folder belongs to node n2, and the name of this node is n5")

	// A name taken from the host name is not a configured name, and the node keeps the
	// name in its data.
	o.Named = false
	var out bytes.Buffer
	c, err = server.FromOptions(&o, version, o.Logger(io.Discard))
	require.NoError(t, err)
	s, err := server.Start(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, s.Announce(&out))
	var line server.Serving
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	require.Equal(t, "n2", line.Name)
	require.NoError(t, s.Close(t.Context()))
}
