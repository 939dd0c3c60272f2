package member

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// A PeerList is a node's knowledge of the members without its log: whom to dial, which
// keys to accept, and who signs. After a start the log is applied only when a leader has
// sent its commit index, and that leader must be accepted before, so the list is also in
// a file.
type PeerList struct {
	Path string

	fileStale atomic.Bool // the last write of the file failed

	mu    sync.RWMutex // guards the fields below
	list  PeerListData
	roots *x509.CertPool
}

// PeerListData is the content of the file.
type PeerListData struct {
	// Sum is the checksum of the file, see encodePeerList.
	Sum string `json:"sum"`
	// Seq is the position in the log of this list; 0 if it was made before there was a
	// log.
	Seq uint64 `json:"seq"`
	// Level is the feature level of the cluster.
	Level uint32 `json:"level,omitempty"`
	// InitialCluster reports that these members start a cluster together, each with an
	// empty log.
	InitialCluster bool `json:"initial_cluster,omitempty"`
	// MostMembers is how many nodes have been members at once, as far as this node knows.
	// Members that have not run yet, or that replace another, do not count.
	MostMembers int         `json:"most_members,omitempty"`
	Members     []Member    `json:"members"`
	Authorities []Authority `json:"authorities"`
}

const PeersFile = "peers.json"

// NewPeerList returns an empty list for a node's folder, without reading the file.
func NewPeerList(dir string) *PeerList { return &PeerList{Path: filepath.Join(dir, PeersFile)} }

// OpenPeerList reads the file of a node's folder. If there is none, the list is empty.
func OpenPeerList(dir string) (*PeerList, error) {
	p := NewPeerList(dir)
	data, err := os.ReadFile(p.Path)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read peer list: %w", err)
	}
	var l PeerListData
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, damagedPeerList(p.Path, err)
	}
	if !peerListIntact(data, l.Sum) {
		return nil, damagedPeerList(p.Path, errors.New("checksum mismatch"))
	}
	if err := p.Set(l); err != nil {
		return nil, damagedPeerList(p.Path, err)
	}
	return p, nil
}

// damagedPeerList is the error for a damaged file.
func damagedPeerList(path string, err error) error {
	return fmt.Errorf("read peer list from %s: %w: %w", path, err, ErrRebuiltFile)
}

// Replace replaces the list in memory, then the file: a removed member is refused even if
// the file can't be written.
func (p *PeerList) Replace(l PeerListData) error {
	if err := p.Set(l); err != nil {
		return err
	}
	data, err := encodePeerList(p.Get())
	if err != nil {
		return fmt.Errorf("encode peer list: %w", err)
	}
	err = durable.Replace(p.Path, data)
	p.fileStale.Store(err != nil)
	if err != nil {
		return fmt.Errorf("write peer list: %w", err)
	}
	return nil
}

// Set replaces the list in memory only.
func (p *PeerList) Set(l PeerListData) error {
	roots := x509.NewCertPool()
	for i := range l.Authorities {
		cert, err := x509.ParseCertificate(l.Authorities[i].Certificate)
		if err != nil {
			return fmt.Errorf("parse authority certificate: %w", err)
		}
		roots.AddCert(cert)
	}
	settled := 0
	for i := range l.Members {
		if m := &l.Members[i]; m.Issuer != "" && m.Replaces == "" {
			settled++
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l.MostMembers = max(l.MostMembers, p.list.MostMembers, settled)
	p.list, p.roots = l, roots
	return nil
}

// UpdateFrom takes the list from the state, if the state has one. The key of an authority
// keeps its old seal until this node can open the new one, which later reports: the node
// must be able to issue a certificate before it has a state. The file is written only if
// keep is set.
func (p *PeerList) UpdateFrom(txn *memdb.Txn, opens func(*Authority) bool, keep bool) (changed, later bool, err error) {
	s := machine.ReadStatus(txn)
	l := PeerListData{Seq: s.Seq, Level: s.Level}
	for _, m := range All(txn) {
		l.Members = append(l.Members, *m)
	}
	for _, a := range Authorities(txn) {
		l.Authorities = append(l.Authorities, *a)
	}
	old := p.Get()
	for i := range l.Authorities {
		a := &l.Authorities[i]
		j := slices.IndexFunc(old.Authorities, func(o Authority) bool { return o.ID == a.ID })
		if j >= 0 && !bytes.Equal(old.Authorities[j].Sealed, a.Sealed) && !opens(a) {
			a.Sealed, later = old.Authorities[j].Sealed, true
		}
	}
	if len(l.Members) == 0 || l.Seq < old.Seq || l.Level == old.Level &&
		slices.EqualFunc(old.Members, l.Members, sameMember) && slices.EqualFunc(old.Authorities, l.Authorities, sameAuthority) && old.Seq > 0 && !p.fileStale.Load() {
		return false, later, nil
	}
	if !keep {
		return true, later, p.Set(l)
	}
	return true, later, p.Replace(l)
}

func sameMember(a, b Member) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Address == b.Address && bytes.Equal(a.Key, b.Key) &&
		a.Version == b.Version && a.Level == b.Level && a.Replaces == b.Replaces && a.Issuer == b.Issuer && a.TrustedIssuer == b.TrustedIssuer
}

func sameAuthority(a, b Authority) bool {
	return a.ID == b.ID && a.Made == b.Made && bytes.Equal(a.Sealed, b.Sealed)
}

// Get returns the list. Its slices must not be changed.
func (p *PeerList) Get() PeerListData {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.list
}

// Empty reports whether the list has no members.
func (p *PeerList) Empty() bool { return len(p.Get().Members) == 0 }

// Member returns the member with an id.
func (p *PeerList) Member(id string) (Member, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for i := range p.list.Members {
		if p.list.Members[i].ID == id {
			return p.list.Members[i], true
		}
	}
	return Member{}, false
}

// Authority returns the authority that signs, or nil.
func (p *PeerList) Authority() *Authority {
	if list := p.Signers(); len(list) > 0 {
		return list[0]
	}
	return nil
}

// Signers returns the authorities whose certificates every member accepts, the one that
// signs first.
func (p *PeerList) Signers() []*Authority {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var list []*Authority
	for i := range p.list.Authorities {
		if a := &p.list.Authorities[i]; a.Made > 0 {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *Authority) int { return cmp.Compare(b.Made, a.Made) })
	return list
}

// Announced returns the id of the authority that will sign once every member knows it, or
// "".
func (p *PeerList) Announced() string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for i := range p.list.Authorities {
		if p.list.Authorities[i].Made == 0 {
			return p.list.Authorities[i].ID
		}
	}
	return ""
}

// Pool returns the authorities whose certificates are accepted.
func (p *PeerList) Pool() *x509.CertPool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.roots
}

// Owner returns the id of the member with this key, or "".
func (p *PeerList) Owner(hash []byte) string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for i := range p.list.Members {
		if bytes.Equal(p.list.Members[i].Key, hash) {
			return p.list.Members[i].ID
		}
	}
	return ""
}
