package transport_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// TestNoWayToANode: an unreachable machine and a rejecting router or firewall cause the
// same error, so the text names both.
func TestNoWayToANode(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EHOSTUNREACH, syscall.ENETUNREACH} {
		err := transport.WrapDialError("10.0.0.2:8300", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)})
		require.EqualError(t, err, "no route to 10.0.0.2:8300: "+
			"the machine is down, or a router or firewall rejects the connection")
		require.ErrorIs(t, err, errno)
	}
}

// TestHandshakeErrors: the text names the clocks if a wrong clock may be the cause.
func TestHandshakeErrors(t *testing.T) {
	expired := fmt.Errorf("the peer's certificate: %w", x509.CertificateInvalidError{Reason: x509.Expired})
	require.Equal(t, "its certificate is not valid by this node's clock: the clocks of the two differ", transport.DescribeHandshakeError(expired))
	alert := &net.OpError{Op: "remote error", Err: tls.AlertError(42)}
	require.Contains(t, transport.DescribeHandshakeError(alert), "or the clocks of the two differ")
}
