package join

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Options is what a node needs to become a member.
type Options struct {
	// Dir is the folder of the node, as in cluster.Config. It must belong to no cluster.
	Dir string
	// Address is any member's.
	Address string
	// Token is what cluster.Node.Invite returned.
	Token string
	// Advertise is where the others will reach this node.
	Advertise string
	// Name is that of the invitation; "" takes whatever that is.
	Name    string
	Version string
	Level   uint32
	// StoreSecret stores what cluster.Config.JoinSecret of the member returned. It is called
	// before the folder becomes a member's. Its error may be a *RefusedError too.
	StoreSecret func(secret []byte) error
	// Now is the clock by which certificates are valid, as in cluster.Config. Default: time.Now.
	Now func() time.Time
}

// Join makes the node of a folder a member and writes what cluster.Open needs. It may be called again after a failure: the token is bound
// to the key in the folder. The error wraps a *RefusedError, or is one, where
// another try is of no use.
func Join(ctx context.Context, j Options) error {
	print, secret, err := member.ParseToken(j.Token)
	if err != nil {
		return err
	}
	if err := store.PrivateDir(j.Dir); err != nil {
		return fmt.Errorf("join: create data directory: %w", err)
	}
	if noted, err := integrity.ReadInstanceIDFile(j.Dir); err != nil {
		return fmt.Errorf("join: %w", err)
	} else if noted != nil {
		return fmt.Errorf("join: %s shows that a node has run here: %w", filepath.Join(j.Dir, integrity.InstanceIDFile), store.ErrDataLost)
	}
	key, err := member.NodeKey(rand.Reader, j.Dir)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	id, err := member.ReadNodeID(j.Dir)
	if err == nil && len(id) == 0 {
		if id, err = member.NewNodeID(rand.Reader); err == nil {
			err = durable.Replace(filepath.Join(j.Dir, member.NodeIDFile), id)
		}
	}
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	now := j.Now
	if now == nil {
		now = time.Now
	}
	own, err := member.SelfSigned(key, string(id), now())
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	d := tls.Dialer{Config: &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{transport.ProtocolJoin}, Certificates: []tls.Certificate{own},
		InsecureSkipVerify: true, // because VerifyConnection verifies the authority
		VerifyConnection:   func(s tls.ConnectionState) error { return verifyPinned(s, print, now()) },
	}}
	c, err := d.DialContext(ctx, "tcp", j.Address)
	if err != nil {
		return fmt.Errorf("join: %w", transport.WrapDialError(j.Address, err))
	}
	defer func() { _ = c.Close() }()
	a, err := Ask(ctx, c, Request{
		Secret: secret, ID: string(id), Address: j.Advertise, Version: j.Version, Level: j.Level, Name: j.Name,
	})
	switch {
	case err != nil:
		return fmt.Errorf("join: %w", transport.WrapDialError(j.Address, err))
	case a.Again:
		return fmt.Errorf("join by %s: %s", j.Address, a.Refused)
	case a.Refused != "":
		return &member.RefusedError{Reason: a.Refused, Code: a.Code}
	case len(a.Members) == 0 || len(a.Authorities) == 0:
		return fmt.Errorf("join by %s: the answer is not complete", j.Address)
	}
	if err := j.StoreSecret(a.Secret); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	return member.NewPeerList(j.Dir).Replace(member.PeerListData{Seq: a.Seq, Members: a.Members, Authorities: a.Authorities})
}

// verifyPinned accepts the server whose certificate is from the authority that the
// token names.
func verifyPinned(s tls.ConnectionState, print []byte, now time.Time) error {
	if len(s.PeerCertificates) != 2 || s.NegotiatedProtocol != transport.ProtocolJoin {
		return errors.New("the server is not a Mintmark node")
	}
	leaf, root := s.PeerCertificates[0], s.PeerCertificates[1]
	sum := sha256.Sum256(root.Raw)
	if subtle.ConstantTimeCompare(sum[:], print) != 1 {
		return member.Refuse(member.ErrOtherCluster)
	}
	pool := x509.NewCertPool()
	pool.AddCert(root)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err != nil {
		return fmt.Errorf("verify the certificate of the server: %w", err)
	}
	return nil
}

// CheckName returns why a node may not join by an invitation, nil if it may.
func CheckName(wanted, invited string) error {
	if wanted == "" || wanted == invited {
		return nil
	}
	return fmt.Errorf("the join token is for node %s, and the name of this node is %s: %w", invited, wanted, member.ErrOtherName)
}
