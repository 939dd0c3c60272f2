package cluster

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
)

// A peer list is what a node knows of the members without its log: whom to dial,
// whose key to accept, and who signs. After a start the log is applied only
// when a leader says how far it is committed, and the leader must be let in
// before, so the list is kept in a file too.
type peerList struct {
	path string

	fileStale atomic.Bool // the file could not be written

	mu    sync.RWMutex // guards the rest
	list  peerListData
	roots *x509.CertPool
}

// peerListData is the file.
type peerListData struct {
	// Sum is the checksum of the file, see encodePeerList.
	Sum string `json:"sum"`
	// Seq is the position in the log it was taken at; 0 is a list that was made
	// before there was a log.
	Seq uint64 `json:"seq"`
	// Level is the feature level of the cluster.
	Level uint32 `json:"level,omitempty"`
	// InitialCluster says that these members start a cluster together, each with an
	// empty log.
	InitialCluster bool        `json:"initial_cluster,omitempty"`
	Members        []Member    `json:"members"`
	Authorities    []authority `json:"authorities"`
}

const peersFile = "peers.json"

// openPeerList reads the file of a node's folder. Without one the peer list is empty.
func openPeerList(dir string) (*peerList, error) {
	r := &peerList{path: filepath.Join(dir, peersFile)}
	data, err := os.ReadFile(r.path)
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of peers: %w", err)
	}
	var l peerListData
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, damagedPeerList(r.path, err)
	}
	if !peerListIntact(data, l.Sum) {
		return nil, damagedPeerList(r.path, errors.New("it is not what was written"))
	}
	if err := r.set(l); err != nil {
		return nil, damagedPeerList(r.path, err)
	}
	return r, nil
}

// damagedPeerList says what to do about the file: a node that has run finds the list
// in its log.
func damagedPeerList(path string, err error) error {
	return fmt.Errorf("%s, the list of peers, is damaged (%w): move it away and start the node again, which makes it anew from its log", path, err)
}

// replace makes l the list, on disk first.
func (r *peerList) replace(l peerListData) error {
	// In memory first: a member that was removed is refused though the file
	// can't be written.
	if err := r.set(l); err != nil {
		return err
	}
	data, err := encodePeerList(l)
	if err != nil {
		return fmt.Errorf("encode the list of peers: %w", err)
	}
	err = durable.Replace(r.path, data)
	r.fileStale.Store(err != nil)
	if err != nil {
		return fmt.Errorf("write the list of peers: %w", err)
	}
	return nil
}

func (r *peerList) set(l peerListData) error {
	roots := x509.NewCertPool()
	for i := range l.Authorities {
		cert, err := x509.ParseCertificate(l.Authorities[i].Certificate)
		if err != nil {
			return fmt.Errorf("read the certificate of an authority: %w", err)
		}
		roots.AddCert(cert)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list, r.roots = l, roots
	return nil
}

// updateFrom takes the list from the state, where there is one. The key of an
// authority stays sealed as it was until this node opens what it is now, which
// later says: before it has a state it must be able to make a certificate. The
// file is left alone unless keep is set.
func (r *peerList) updateFrom(txn *memdb.Txn, opens func(*authority) bool, keep bool) (changed, later bool, err error) {
	s := readStatus(txn)
	l := peerListData{Seq: s.Seq, Level: s.Level}
	for _, m := range members(txn) {
		l.Members = append(l.Members, *m)
	}
	for _, a := range list[authority](txn, authoritiesTable) {
		l.Authorities = append(l.Authorities, *a)
	}
	old := r.get()
	for i := range l.Authorities {
		a := &l.Authorities[i]
		j := slices.IndexFunc(old.Authorities, func(o authority) bool { return o.ID == a.ID })
		if j >= 0 && !bytes.Equal(old.Authorities[j].Sealed, a.Sealed) && !opens(a) {
			a.Sealed, later = old.Authorities[j].Sealed, true
		}
	}
	if len(l.Members) == 0 || l.Seq < old.Seq || l.Level == old.Level &&
		slices.EqualFunc(old.Members, l.Members, sameMember) && slices.EqualFunc(old.Authorities, l.Authorities, sameAuthority) && old.Seq > 0 && !r.fileStale.Load() {
		return false, later, nil
	}
	if !keep {
		return true, later, r.set(l)
	}
	return true, later, r.replace(l)
}

func sameMember(a, b Member) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Address == b.Address && bytes.Equal(a.Key, b.Key) &&
		a.Version == b.Version && a.Level == b.Level && a.Replaces == b.Replaces && a.Issuer == b.Issuer && a.TrustedIssuer == b.TrustedIssuer
}

func sameAuthority(a, b authority) bool {
	return a.ID == b.ID && a.Made == b.Made && bytes.Equal(a.Sealed, b.Sealed)
}

func (r *peerList) get() peerListData {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.list
}

func (r *peerList) empty() bool { return len(r.get().Members) == 0 }

// member returns the member with an id.
func (r *peerList) member(id string) (Member, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for i := range r.list.Members {
		if r.list.Members[i].ID == id {
			return r.list.Members[i], true
		}
	}
	return Member{}, false
}

// authority returns the one that signs, nil if none is known.
func (r *peerList) authority() *authority {
	if list := r.signers(); len(list) > 0 {
		return list[0]
	}
	return nil
}

// signers are the authorities whose certificates every member accepts, the one
// that signs first.
func (r *peerList) signers() []*authority {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []*authority
	for i := range r.list.Authorities {
		if a := &r.list.Authorities[i]; a.Made > 0 {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *authority) int { return cmp.Compare(b.Made, a.Made) })
	return list
}

// announced is the id of the authority that is to sign once every member knows
// it, "" if there is none.
func (r *peerList) announced() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for i := range r.list.Authorities {
		if r.list.Authorities[i].Made == 0 {
			return r.list.Authorities[i].ID
		}
	}
	return ""
}

// pool returns the authorities whose certificates are accepted.
func (r *peerList) pool() *x509.CertPool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.roots
}

// owner returns the id of the member whose key this is, "" if it is nobody's.
func (r *peerList) owner(hash []byte) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for i := range r.list.Members {
		if bytes.Equal(r.list.Members[i].Key, hash) {
			return r.list.Members[i].ID
		}
	}
	return ""
}
