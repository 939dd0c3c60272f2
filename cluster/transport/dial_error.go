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

func (u *dialError) Error() string { return u.text }
func (u *dialError) Unwrap() error { return u.err }

// errNoAnswer reports that a call was not answered in time.
var errNoAnswer = errors.New("no answer in time")

// errNotMember reports a peer with a key of no member, errWrongMember one with the key of
// another member.
var (
	errNotMember   = errors.New("the peer's key is not that of a member")
	errWrongMember = errors.New("the peer is another member than the one that was dialled")
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
		text = "whoever answers at " + address + " is no member of this cluster, as this node knows it: " +
			"is that the right address? does a node of another cluster run there, or one whose folder was generated another time?"
	case errors.Is(err, errWrongMember):
		text = "another node of this cluster answers at " + address + ": is that the right address?"
	case IsCertTimeInvalid(err):
		text = "the certificate of the node at " + address + " is not valid by this node's clock: compare the clocks of the two"
	case errors.As(err, &notTLS):
		text = "whoever answers at " + address + " is not a Mintmark node: is that the right address?"
	case errors.As(err, &op) && op.Op == "remote error":
		text = "the node at " + address + " refuses this one: it does not know this node as a member, can't read its own cluster key, or the clocks of the two differ; its log says which"
	case errors.Is(err, syscall.ECONNREFUSED):
		text = "the connection to " + address + " was refused: nothing listens there (does the node run?), or a firewall in between rejects it"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		text = "the network has no way to " + address + ": the machine is down, there is no route to it, or a firewall in between rejects the connection"
	case errors.As(err, &dns):
		text = "the name in " + address + " is not known: " + dns.Err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		text = "no answer from " + address + ": is the machine up, and the port open to this one?"
	case hungUp(err):
		text = "the node at " + address + " hung up: it is on its way down, or keeps away from the others; its log says why"
	default:
		return &dialError{"connect with " + address + ": " + err.Error(), err}
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
		return "its key is not that of a member: it was removed, is of another cluster, or was not heard of yet"
	case errors.As(err, &notTLS):
		return "it does not speak TLS"
	case errors.As(err, &op) && op.Op == "remote error":
		return "it refuses this node: it belongs to another cluster, expects another node at this address, or the clocks of the two differ"
	case IsCertTimeInvalid(err):
		return "its certificate is not valid by this node's clock: compare the clocks of the two"
	case hungUp(err):
		return "it hung up before it said who it is"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it did not say in time who it is"
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
		return "it is connected, and does not answer: its process was stopped, or hangs"
	case errors.Is(err, context.DeadlineExceeded):
		return "it does not answer"
	}
	return err.Error()
}
