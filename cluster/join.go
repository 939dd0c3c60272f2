package cluster

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Join is what a node needs to become a member.
type Join struct {
	// Dir is the folder of the node, as in Config. It must belong to no cluster.
	Dir string
	// Address is any member's.
	Address string
	// Token is what Invite made.
	Token string
	// Advertise is where the others will reach this node.
	Advertise string
	// Name is that of the invitation; "" takes whatever that is.
	Name    string
	Version string
	Level   uint32
	// StoreSecret stores what Config.JoinSecret of the member returned. It is called
	// before the folder becomes a member's. Its error may be a *RefusedError too.
	StoreSecret func(secret []byte) error
	// Now is the clock by which certificates are valid, as in Config. Default: time.Now.
	Now func() time.Time
}

// joinRequest and joinAnswer are CBOR behind a length of four bytes.
type joinRequest struct {
	Secret  []byte `cbor:"1,keyasint"`
	ID      string `cbor:"2,keyasint"`
	Address string `cbor:"3,keyasint"`
	Version string `cbor:"4,keyasint"`
	Level   uint32 `cbor:"5,keyasint"`
	// CheckMembership asks whether the key is a member's, and for nothing else.
	CheckMembership bool `cbor:"6,keyasint,omitempty"`
	// Name is Join.Name. A member of before there was this field ignores it.
	Name string `cbor:"7,keyasint,omitempty"`
	// CheckLeader asks, with Standing, whether there is a leader too.
	CheckLeader bool `cbor:"8,keyasint,omitempty"`
}

type joinAnswer struct {
	Refused     string             `cbor:"1,keyasint,omitempty"`
	Again       bool               `cbor:"2,keyasint,omitempty"` // nothing is decided: ask again
	Name        string             `cbor:"3,keyasint,omitempty"`
	Seq         uint64             `cbor:"4,keyasint,omitempty"`
	Members     []member.Member    `cbor:"5,keyasint,omitempty"`
	Authorities []member.Authority `cbor:"6,keyasint,omitempty"`
	Secret      []byte             `cbor:"7,keyasint,omitempty"`
	NotMember   bool               `cbor:"8,keyasint,omitempty"` // the key is no member's, for who asks for its standing
	HasLeader   bool               `cbor:"9,keyasint,omitempty"` // by a leader that has committed something since
}

const (
	joinTimeout = 15 * time.Second
	maxJoin     = 256 << 10
)

// JoinCluster makes the node of a folder a member and writes down what it must
// know to be opened. It may be called again after a failure: the token is bound
// to the key in the folder. The error wraps a *RefusedError, or is one, where
// another try is of no use.
func JoinCluster(ctx context.Context, j Join) error {
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
		return fmt.Errorf("join: %s says that a node has run here: %w", filepath.Join(j.Dir, integrity.InstanceIDFile), store.ErrDataLost)
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
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	d := tls.Dialer{Config: &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{transport.ProtocolJoin}, Certificates: []tls.Certificate{own},
		InsecureSkipVerify: true, // because VerifyConnection knows what to expect
		VerifyConnection:   func(s tls.ConnectionState) error { return verifyPinned(s, print, now()) },
	}}
	c, err := d.DialContext(ctx, "tcp", j.Address)
	if err != nil {
		return fmt.Errorf("join: %w", transport.WrapDialError(j.Address, err))
	}
	defer func() { _ = c.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(deadline)
	}
	var a joinAnswer
	if err = writeJoin(c, joinRequest{
		Secret: secret, ID: string(id), Address: j.Advertise, Version: j.Version, Level: j.Level, Name: j.Name,
	}); err == nil {
		err = readJoin(c, &a)
	}
	switch {
	case err != nil:
		return fmt.Errorf("join: %w", transport.WrapDialError(j.Address, err))
	case a.Again:
		return fmt.Errorf("join by %s: %s", j.Address, a.Refused)
	case a.Refused != "":
		return &member.RefusedError{Reason: a.Refused}
	case len(a.Members) == 0 || len(a.Authorities) == 0:
		return fmt.Errorf("join by %s: the answer is not complete", j.Address)
	}
	if why := nameMismatch(j.Name, a.Name); why != "" {
		return &member.RefusedError{Reason: why}
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
		return errors.New("whoever answers is not a Mintmark node")
	}
	leaf, root := s.PeerCertificates[0], s.PeerCertificates[1]
	sum := sha256.Sum256(root.Raw)
	if subtle.ConstantTimeCompare(sum[:], print) != 1 {
		return &member.RefusedError{Reason: "whoever answers belongs to another cluster than the join token, or its authority was changed since the token was made: make another one (mintmark cluster invite)"}
	}
	pool := x509.NewCertPool()
	pool.AddCert(root)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err != nil {
		return fmt.Errorf("the certificate of whoever answers: %w", err)
	}
	return nil
}

// serveJoin admits whoever presents a valid token.
func (n *Node) serveJoin(c *tls.Conn, key []byte) {
	_ = c.SetDeadline(time.Now().Add(joinTimeout))
	var q joinRequest
	if err := readJoin(c, &q); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), joinTimeout)
	defer cancel()
	if q.CheckMembership {
		_ = writeJoin(c, n.membershipAnswer(ctx, key, q.CheckLeader))
		return
	}
	a := n.admit(ctx, q, key)
	if a.Refused != "" {
		n.network.WarnNotAdmitted(c.RemoteAddr(), a.Refused)
	} else {
		n.log.Info("cluster: a node was let in", "name", a.Name, "address", q.Address)
	}
	_ = writeJoin(c, a)
}

// admit decides whether a node may join. A caller with an unknown token is
// unauthenticated, so its Barrier is paced. Members get their answer, above all the
// secret, only from a node with a fresh state: a member may have been removed
// without this node knowing it yet.
func (n *Node) admit(ctx context.Context, q joinRequest, key []byte) joinAnswer {
	if _, _, err := net.SplitHostPort(q.Address); err != nil {
		return joinAnswer{Refused: "the node's own address (see --advertise) is not host:port"}
	}
	if n.config.JoinSecret == nil {
		return joinAnswer{Refused: "this node lets nobody in"}
	}
	again := func(err error) joinAnswer { return joinAnswer{Again: true, Refused: err.Error()} }
	id := member.InviteID(q.Secret)
	if member.InviteByID(n.View(), id) == nil {
		if err := n.unauthenticatedBarrier(ctx); err != nil {
			return again(err)
		}
		if member.InviteByID(n.View(), id) == nil {
			return joinAnswer{Refused: member.UnknownInvite}
		}
	}
	if i := member.InviteByID(n.View(), id); i != nil {
		if why := nameMismatch(q.Name, i.Name); why != "" { // before the token is used up
			return joinAnswer{Refused: why}
		}
	}
	value, _, err := n.Propose(ctx, &member.Enroll{Invite: id, Member: member.Member{
		ID: q.ID, Address: q.Address, Key: key, Version: q.Version, Level: q.Level,
	}})
	if err != nil {
		return again(err)
	}
	if m := value.(member.Outcome); m.Refused != "" {
		return joinAnswer{Refused: m.Refused}
	}
	view, err := n.ViewFresh(ctx)
	if err != nil {
		return again(err)
	}
	if m := member.ByID(view, q.ID); m == nil || !slices.Equal(m.Key, key) {
		return joinAnswer{Refused: member.UnknownInvite} // removed since
	}
	secret, err := n.config.JoinSecret()
	if err != nil {
		return again(fmt.Errorf("this node can't give its secret away: %w", err))
	}
	return newJoinAnswer(view, q.ID, secret)
}

func newJoinAnswer(view *memdb.Txn, id string, secret []byte) joinAnswer {
	a := joinAnswer{Seq: machine.ReadStatus(view).Seq, Secret: secret}
	for _, m := range member.All(view) {
		a.Members = append(a.Members, *m)
		if m.ID == id {
			a.Name = m.Name
		}
	}
	for _, au := range member.Authorities(view) {
		a.Authorities = append(a.Authorities, *au)
	}
	return a
}

func writeJoin(c io.Writer, v any) error {
	body, err := machine.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	_, err = c.Write(append(b, body...))
	return err
}

func readJoin(c io.Reader, into any) error {
	in := bufio.NewReader(c)
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > maxJoin {
		return fmt.Errorf("a message of %d bytes", size)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(in, b); err != nil {
		return err
	}
	return machine.Unmarshal(b, into)
}

// nameMismatch is why a node may not join by an invitation; "" where it may.
func nameMismatch(wanted, invited string) string {
	if wanted == "" || wanted == invited {
		return ""
	}
	return fmt.Sprintf("the join token is for node %s, and this node shall be %s (see --name)", invited, wanted)
}
