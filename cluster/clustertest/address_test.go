package clustertest_test

import (
	"net"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
)

// TestAddress: listeners can be opened and closed while the port stays reserved.
func TestAddress(t *testing.T) {
	address := clustertest.Address(t)
	for range 2 {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
	if runtime.GOOS != "linux" {
		return
	}
	_, port, _ := net.SplitHostPort(address)
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(s) }()
	if err := syscall.Bind(s, &syscall.SockaddrInet4{Port: number, Addr: [4]byte{127, 0, 0, 1}}); err != syscall.EADDRINUSE {
		t.Fatalf("bound a socket without SO_REUSEADDR: %v", err)
	}
}
