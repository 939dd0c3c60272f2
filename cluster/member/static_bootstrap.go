package member

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// An InitialNode is one node of a cluster whose folders are made before any of its nodes
// runs.
type InitialNode struct {
	Dir     string // the folder to create, as in Config
	Name    string
	Address string // host:port for the other nodes
}

// StaticBootstrap creates the folders of nodes that start a cluster together, without any
// connection: each gets an id, a key, and the list of all of them. Open then waits until
// all nodes have met. Every node also needs the secrets under which s seals.
//
// A cluster of one is not created this way: its node would have no other node that
// notices a loss of its data.
func StaticBootstrap(initial []InitialNode, s Secrets, now time.Time) error {
	if err := checkInitialNodes(initial); err != nil {
		return fmt.Errorf("static bootstrap: %w", err)
	}
	a, err := NewAuthority(rand.Reader, s, now)
	if err != nil {
		return fmt.Errorf("static bootstrap: %w", err)
	}
	list := PeerListData{InitialCluster: true, Authorities: []Authority{a}}
	for _, f := range initial {
		m, err := f.createFolder(a.ID)
		if err != nil {
			return fmt.Errorf("create folder of node %s: %w", f.Name, err)
		}
		list.Members = append(list.Members, m)
	}
	for _, f := range initial {
		if err := NewPeerList(f.Dir).Replace(list); err != nil {
			return fmt.Errorf("create folder of node %s: %w", f.Name, err)
		}
	}
	return nil
}

func checkInitialNodes(initial []InitialNode) error {
	switch len(initial) {
	case 3, 5, 7:
	default:
		return ErrInitialNodeCount
	}
	names, addresses := map[string]bool{}, map[string]bool{}
	for _, f := range initial {
		_, port, err := net.SplitHostPort(f.Address)
		switch {
		case !ValidName(f.Name):
			return fmt.Errorf("%q is not a valid name: a node's name is %s", f.Name, NameRule)
		case err != nil || port == "" || port == "0":
			return fmt.Errorf("address of node %s is not host:port", f.Name)
		case names[f.Name]:
			return fmt.Errorf("two nodes have the name %s", f.Name)
		case addresses[f.Address]:
			return fmt.Errorf("two nodes have the address %s", f.Address)
		}
		names[f.Name], addresses[f.Address] = true, true
	}
	return nil
}

// createFolder writes a node's own files. Version and level are not known yet: each node
// reports its own, and the level stays low until all have.
func (f InitialNode) createFolder(authority string) (Member, error) {
	if _, err := os.Stat(filepath.Join(f.Dir, NodeIDFile)); !errors.Is(err, os.ErrNotExist) {
		return Member{}, fmt.Errorf("%s already has a node", f.Dir)
	}
	if err := store.PrivateDir(f.Dir); err != nil {
		return Member{}, err
	}
	id, err := NewNodeID(rand.Reader)
	if err != nil {
		return Member{}, err
	}
	if err := durable.Replace(filepath.Join(f.Dir, NodeIDFile), id); err != nil {
		return Member{}, fmt.Errorf("write node id: %w", err)
	}
	key, err := NodeKey(rand.Reader, f.Dir)
	if err != nil {
		return Member{}, err
	}
	hash, err := KeyHash(key)
	if err != nil {
		return Member{}, err
	}
	return Member{ID: string(id), Name: f.Name, Address: f.Address, Key: hash, Issuer: authority}, nil
}
