package clustertest

import (
	"net/netip"
	"runtime"
	"syscall"
	"testing"
)

// Address returns a loopback address, as host:port, that the system assigns to no other
// process before the test ends: a socket stays bound to it without listening. The test,
// and processes that it starts, can open and close listeners there.
func Address(t testing.TB) string {
	t.Helper()
	syscall.ForkLock.RLock()
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(s)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatalf("create socket: %v", err)
	}
	release := func() { _ = syscall.Close(s) }
	if runtime.GOOS != "linux" { // other systems allow no listener beside the bound socket
		defer release()
	} else {
		t.Cleanup(release)
	}
	err = syscall.SetsockoptInt(s, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(s, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		t.Fatalf("bind socket: %v", err)
	}
	name, err := syscall.Getsockname(s)
	if err != nil {
		t.Fatalf("read address of socket: %v", err)
	}
	at := name.(*syscall.SockaddrInet4)
	return netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port)).String()
}
