package cli

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHints: an error of a start names the flag that mends it.
func TestHints(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	for flag, fact := range map[string]string{
		"--listen": "listen for clients", "--ops-listen": "listen for operators", "--cluster-listen": "listen for other nodes",
	} {
		args := []string{
			"serve", "--name", "n1", "--data-dir", t.TempDir(),
			"--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--cluster-listen", "127.0.0.1:0", flag, l.Addr().String(),
		}
		r := runLine(t, args...)
		require.Equal(t, ExitLocal, r.Code, flag)
		require.Contains(t, r.Err, "mintmark: "+fact+": listen tcp "+l.Addr().String())
		require.Contains(t, r.Err, " (see "+flag+")\n")
	}
	r := runLine(t, "serve", "--name", "n1", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
		"--cluster-listen", "127.0.0.1:0", "--join", "127.0.0.1:1", "--token-file", "no-such-file")
	require.Contains(t, r.Err, "mintmark: read the join token: open no-such-file")
	require.Contains(t, r.Err, " (see --token-file)\n")
}
