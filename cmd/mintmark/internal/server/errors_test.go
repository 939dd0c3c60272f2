package server

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrivilegedPort: the error of a port below 1024 names the capability.
func TestPrivilegedPort(t *testing.T) {
	denied := &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EACCES)}
	for address, named := range map[string]bool{":443": true, "127.0.0.1:1023": true, "[::1]:80": true, ":1024": false, ":8080": false, ":0": false} {
		err := listenError(ErrListen, address, denied)
		require.ErrorIs(t, err, ErrListen, address)
		require.ErrorIs(t, err, syscall.EACCES, address)
		if named {
			require.ErrorIs(t, err, ErrPrivilegedPort, address)
			require.ErrorContains(t, err, "CAP_NET_BIND_SERVICE")
		} else {
			require.NotErrorIs(t, err, ErrPrivilegedPort, address)
		}
	}
	inUse := &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	require.NotErrorIs(t, listenError(ErrListenOps, ":80", inUse), ErrPrivilegedPort)
}

// TestDataFolderModes: the node warns of a data folder that others can enter, and refuses
// one that others can write to.
func TestDataFolderModes(t *testing.T) {
	for mode, want := range map[os.FileMode]string{0o700: "", 0o750: "mode=0750", 0o755: "mode=0755", 0o711: "mode=0711"} {
		dir := t.TempDir()
		require.NoError(t, os.Chmod(dir, mode))
		var log bytes.Buffer
		require.NoError(t, makeDataDir(dir, slog.New(slog.NewTextHandler(&log, nil))))
		if want == "" {
			require.Empty(t, log.String())
			continue
		}
		require.Contains(t, log.String(), "level=WARN msg=\"data folder found open to other accounts of this machine\" data_dir="+dir+" "+want+" expected=0700")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o777))
	require.ErrorIs(t, makeDataDir(dir, slog.New(slog.DiscardHandler)), ErrWorldWritable)

	made := filepath.Join(t.TempDir(), "new")
	require.NoError(t, makeDataDir(made, slog.New(slog.NewTextHandler(io.Discard, nil))))
	info, err := os.Stat(made)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}
