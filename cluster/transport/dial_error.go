package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/mintmark-auth/mintmark/cluster/member"
)

// dialError is the reason why a node could not be reached, in words for operators. It
// wraps the error of the library.
type dialError struct {
	text string
	err  error
}

func (e *dialError) Error() string { return e.text }
func (e *dialError) Unwrap() error { return e.err }

// errNoAnswer reports that a call was not answered in time.
var errNoAnswer = errors.New("no answer in time")

// errNotMember reports a peer with a key of no member, errWrongMember one with the key of
// another member.
var (
	errNotMember   = errors.New("peer key is not that of a member")
	errWrongMember = errors.New("peer certificate belongs to another member")
)

// WrapDialError wraps an error of a connection to an address in a dialError.
func WrapDialError(address string, err error) error {
	text := ""
	var refused *member.RefusedError
	var op *net.OpError
	var dns *net.DNSError
	var notTLS tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var timeout net.Error
	switch {
	case err == nil || errors.As(err, &refused) || errors.Is(err, member.ErrRemoved) || errors.Is(err, member.ErrDuplicateNode) || errors.Is(err, errIsolated):
		return err
	case errors.Is(err, errNotMember), errors.As(err, &unknown):
		text = "the node at " + address + " is not a member of this cluster, as far as this node knows: " +
			"the address is wrong, or the node belongs to another cluster or was generated separately"
	case errors.Is(err, errWrongMember):
		text = "another node of this cluster answers at " + address
	case IsCertTimeInvalid(err):
		text = "the certificate of the node at " + address + " is not valid by this node's clock: the clocks of the two differ"
	case errors.As(err, &notTLS):
		text = "the program at " + address + " is not a Mintmark node"
	case errors.As(err, &op) && op.Op == "remote error":
		text = "the node at " + address + " refuses this node: it does not know this node as a member, can't open its own cluster key, or the clocks of the two differ; its log has the reason"
	case errors.Is(err, syscall.ECONNREFUSED):
		text = "the connection to " + address + " was refused: no process listens there, or a firewall rejects it"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		text = "no route to " + address + ": the machine is down, or a router or firewall rejects the connection"
	case errors.As(err, &dns):
		text = "the name in " + address + " can't be resolved: " + dns.Err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		text = "no answer from " + address + ": the machine is down, or a firewall drops the connection"
	case hungUp(err):
		text = "the node at " + address + " closed the connection: it is stopping or has isolated itself; its log has the reason"
	default:
		return &dialError{"connect to " + address + ": " + err.Error(), err}
	}
	return &dialError{text, err}
}

// IsCertTimeInvalid reports whether err means that a certificate is not valid yet, or has
// expired, by this node's clock. Nodes renew their certificates long before they expire,
// so a wrong clock is the likely cause.
func IsCertTimeInvalid(err error) bool {
	var invalid x509.CertificateInvalidError
	return errors.As(err, &invalid) && invalid.Reason == x509.Expired
}

// ClosedByPeer reports whether a call failed because the node closed the connection: it
// has isolated itself, or is stopping.
func ClosedByPeer(err error) bool {
	var u *dialError
	return errors.As(err, &u) && hungUp(u.err)
}

func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// describeHandshakeError describes why an incoming connection was rejected.
func describeHandshakeError(err error) string {
	var op *net.OpError
	var notTLS tls.RecordHeaderError
	var timeout net.Error
	switch {
	case errors.Is(err, errNotMember):
		return "its key is not that of a member: it was removed, belongs to another cluster, or is not known yet"
	case errors.As(err, &notTLS):
		return "it does not use TLS"
	case errors.As(err, &op) && op.Op == "remote error":
		return "it refuses this node: it belongs to another cluster, expects another node at this address, or the clocks of the two differ"
	case IsCertTimeInvalid(err):
		return "its certificate is not valid by this node's clock: the clocks of the two differ"
	case hungUp(err):
		return "it closed the connection before it was authenticated"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it did not authenticate in time"
	}
	return err.Error()
}

// DescribeDialError describes an error of a call for operators.
func DescribeDialError(err error) string {
	var u *dialError
	switch {
	case errors.As(err, &u):
		return u.text
	case errors.Is(err, errNoAnswer):
		return "it is connected, but does not answer: its process is stopped or hangs"
	case errors.Is(err, context.DeadlineExceeded):
		return "it does not answer"
	}
	return err.Error()
}
