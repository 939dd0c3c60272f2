package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"
)

// SocketName is the name of the socket in the data directory.
const SocketName = "admin.sock"

// maxSocketPath is the maximum length of a socket's path, in bytes: sockaddr_un has 108
// on Linux and 104 on other systems, including a terminating zero.
var maxSocketPath = func() int {
	if runtime.GOOS == "linux" {
		return 107
	}
	return 103
}()

func checkPath(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("the path of the local socket %s has %d bytes, and systems take at most %d: choose a shorter data directory, or a relative one",
			path, len(path), maxSocketPath)
	}
	return nil
}

// listen creates the socket, which only its owner can open. It removes a socket file that
// a server left behind, but not one on which a server responds.
func listen(path string) (net.Listener, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, fmt.Errorf("local socket %s: %w", path, err)
	}
	l, err := (&net.ListenConfig{Control: ownerOnly}).Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, fmt.Errorf("open the local socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("restrict the local socket to its owner: %w", err)
	}
	return l, nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return errors.New("there is a file of this name that is not a socket")
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		_ = conn.Close()
		return errors.New("another server answers there")
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return err
}
