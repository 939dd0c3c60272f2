package admin_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
)

func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sock")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestSocketIsItsOwnersOnly(t *testing.T) {
	dir := admintest.New(t).Serve()
	info, err := os.Stat(filepath.Join(dir, admin.SocketName))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	require.NotZero(t, info.Mode()&fs.ModeSocket)
}

func TestSocketLeftBehindIsReplaced(t *testing.T) {
	path := filepath.Join(socketDir(t), admin.SocketName)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false) // as after SIGKILL
	require.NoError(t, l.Close())
	require.FileExists(t, path)

	s, err := admin.Open(path, admin.NewHandler(admintest.New(t).Config()))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoFileExists(t, path)
}

func TestSocketThatIsAnsweredIsNotTaken(t *testing.T) {
	w := admintest.New(t)
	dir := w.Serve()
	_, err := admin.Open(filepath.Join(dir, admin.SocketName), admin.NewHandler(w.Config()))
	require.ErrorContains(t, err, "another server answers")

	c, err := admin.NewCaller(dir)
	require.NoError(t, err)
	defer c.Close()
	ask(t, c, admin.ListUsers, admin.UserFilter{}) // the first server still works
}

func TestFileThatIsNoSocketIsNotRemoved(t *testing.T) {
	path := filepath.Join(socketDir(t), admin.SocketName)
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	_, err := admin.Open(path, admin.NewHandler(admintest.New(t).Config()))
	require.ErrorContains(t, err, "not a socket")
	require.FileExists(t, path)
}

func TestSocketPathTooLong(t *testing.T) {
	dir := filepath.Join(socketDir(t), strings.Repeat("x", 108))
	_, err := admin.Open(filepath.Join(dir, admin.SocketName), admin.NewHandler(admintest.New(t).Config()))
	require.ErrorContains(t, err, "shorter data directory")
	_, err = admin.NewCaller(dir)
	require.ErrorContains(t, err, "shorter data directory")
}

func TestNobodyAnswers(t *testing.T) {
	dir := socketDir(t)
	c, err := admin.NewCaller(dir)
	require.NoError(t, err)
	_, err = admin.ListUsers.Call(t.Context(), c, admin.UserFilter{})
	var unreachable *admin.UnreachableError
	require.ErrorAs(t, err, &unreachable)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, filepath.Join(dir, admin.SocketName))
}
