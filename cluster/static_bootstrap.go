package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Nodes whose folders were generated found their cluster together: each starts
// with an empty log and the same configuration. A node that was given its
// generated folder a second time, because it lost its data, must not do that
// again: it has forgotten its votes and what it acknowledged, and could make a
// majority with one other node that lacks an acknowledged command.
//
// So nobody begins before it has met all others. Each makes an instance id, at random
// and kept with its log, and sends it to every node that asks. A node that begins writes
// down the instance ids of all. A node may begin with nodes that wait too, or with one
// that has begun and knows its instance id: then it was there, and has lost nothing
// since. A node that has begun and knows another instance id, or none, refuses it for
// good.

// bootstrapWait is what a node has while it waits for those that found its cluster
// with it.
type bootstrapWait struct{ instanceID atomic.Pointer[[]byte] }

func (b *bootstrapWait) waiting() bool { return b.instanceID.Load() != nil }

// done is called when raft runs.
func (b *bootstrapWait) done() { b.instanceID.Store(nil) }

// bootstrapAnswer is what a node tells another that would begin.
type bootstrapAnswer struct {
	Started     bool              `cbor:"1,keyasint,omitempty"`
	InstanceIDs map[string][]byte `cbor:"2,keyasint,omitempty"` // by id: of all nodes where it has begun, else its own
}

const (
	bootstrapPollInterval = 200 * time.Millisecond
	// bootstrapLogInterval is how often the log says for whom a node waits.
	bootstrapLogInterval = 30 * time.Second
)

// awaitInitialCluster returns when this node may begin, if it founds a cluster with
// others. Until raft runs it answers nothing but the question that it asks
// itself.
func (n *Node) awaitInitialCluster(ctx context.Context) error {
	list := n.folder.PeerList.Get()
	if !list.InitialCluster || len(list.Members) < 2 {
		return nil
	}
	if err := n.checkInitialFolder(); err != nil {
		return err
	}
	instanceID, err := n.folder.InstanceID()
	if err != nil {
		return err
	}
	n.bootstrapWait.instanceID.Store(&instanceID)
	n.network.Start()
	instanceIDs, err := n.pollInitialNodes(ctx, list, instanceID)
	if err != nil {
		return err
	}
	list.Members = slices.Clone(list.Members)
	for i := range list.Members {
		list.Members[i].InstanceID = instanceIDs[list.Members[i].ID]
	}
	return n.folder.PeerList.Replace(list)
}

// checkInitialFolder finds a folder that was put together from several, or lacks
// what belongs to it.
func (n *Node) checkInitialFolder() error {
	if n.config.Network == nil {
		return errors.New("the data directory is that of a node among others, and this one has no network")
	}
	hash, err := member.KeyHash(n.credentials.Key)
	if err != nil {
		return err
	}
	if me, ok := n.folder.PeerList.Member(string(n.id)); !ok || !bytes.Equal(me.Key, hash) {
		return fmt.Errorf("%s, node.key and %s are not from the same generated folder", member.NodeIDFile, member.PeersFile)
	}
	_, err = n.credentials.Current() // opens the authority's key
	return err
}

// pollInitialNodes asks all others again and again. What counts is said in one round: a node
// may lose its data while others are still waited for.
func (n *Node) pollInitialNodes(ctx context.Context, list member.PeerListData, instanceID []byte) (map[string][]byte, error) {
	var said string
	var saidAt time.Time
	for {
		answers, silent := n.askInitialNodes(ctx, list)
		instanceIDs, err := decideBootstrap(string(n.id), instanceID, list.Members, answers)
		if n.config.hooks.bootstrap != nil && err == nil {
			err = n.config.hooks.bootstrap(len(instanceIDs) > 0, silent)
		}
		if err != nil || len(instanceIDs) > 0 {
			return instanceIDs, err
		}
		why := "waits for " + strings.Join(silent, ", ")
		if n.config.OnBootstrapWait != nil {
			n.config.OnBootstrapWait(why)
		}
		if why != said || time.Since(saidAt) > bootstrapLogInterval {
			n.log.WarnContext(ctx, "cluster: this node founds a cluster with others, and waits until all can be reached", "waiting_for", silent)
			said, saidAt = why, time.Now()
		}
		select {
		case <-time.After(bootstrapPollInterval):
		case <-ctx.Done():
			return nil, fmt.Errorf("bootstrap cluster: %s: %w", why, ctx.Err())
		}
	}
}

// askInitialNodes asks all other members once. silent says who gave no answer, and
// why.
func (n *Node) askInitialNodes(ctx context.Context, list member.PeerListData) (answers map[string]bootstrapAnswer, silent []string) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	var mu sync.Mutex
	var asking sync.WaitGroup
	answers = make(map[string]bootstrapAnswer)
	for _, m := range list.Members {
		if m.ID == string(n.id) {
			continue
		}
		asking.Go(func() {
			a, err := n.askInitialNode(ctx, m.ID)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				silent = append(silent, fmt.Sprintf("%s (%s)", m.Name, transport.DescribeDialError(err)))
				return
			}
			answers[m.ID] = a
		})
	}
	asking.Wait()
	slices.Sort(silent)
	return answers, silent
}

func (n *Node) askInitialNode(ctx context.Context, id string) (bootstrapAnswer, error) {
	var a bootstrapAnswer
	r, err := n.peers.Ask(ctx, id, nil, transport.OpBootstrap, nil, statusTimeout)
	if err != nil {
		return a, err
	}
	if r.Status != transport.ReplyOK {
		return a, replyError(r)
	}
	if err := machine.Unmarshal(r.Body, &a); err != nil {
		return a, fmt.Errorf("decode answer: %w", err)
	}
	return a, nil
}

// decideBootstrap decides whether a node may begin: it returns all instance ids then, and none
// while it must wait. The error is ErrDataLost.
func decideBootstrap(self string, instanceID []byte, all []member.Member, answers map[string]bootstrapAnswer) (map[string][]byte, error) {
	met := map[string][]byte{self: instanceID}
	var begun map[string][]byte
	for _, m := range all {
		a, answered := answers[m.ID]
		switch {
		case m.ID == self || !answered:
		case a.Started && !bytes.Equal(a.InstanceIDs[self], instanceID):
			return nil, fmt.Errorf("node %s refuses this one: %w", m.Name, store.ErrDataLost)
		case a.Started:
			begun = a.InstanceIDs
		case len(a.InstanceIDs[m.ID]) > 0:
			met[m.ID] = a.InstanceIDs[m.ID]
		}
	}
	switch {
	case begun != nil:
		return begun, nil
	case len(met) == len(all):
		return met, nil
	}
	return nil, nil
}

// serveBootstrap answers a node that would begin.
func (n *Node) serveBootstrap() transport.Reply {
	a := bootstrapAnswer{Started: true, InstanceIDs: make(map[string][]byte)}
	if instanceID := n.bootstrapWait.instanceID.Load(); instanceID != nil {
		a = bootstrapAnswer{InstanceIDs: map[string][]byte{string(n.id): *instanceID}}
	} else {
		for _, m := range n.folder.PeerList.Get().Members {
			if len(m.InstanceID) > 0 {
				a.InstanceIDs[m.ID] = m.InstanceID
			}
		}
	}
	b, err := machine.Marshal(a)
	if err != nil {
		return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
	}
	return transport.Reply{Status: transport.ReplyOK, Body: b}
}

// initialServers is the configuration that an empty folder begins with.
func (n *Node) initialServers() []raft.Server {
	list := n.folder.PeerList.Get()
	if !list.InitialCluster || len(list.Members) < 2 {
		return []raft.Server{{ID: n.id, Address: n.transport.LocalAddr()}}
	}
	servers := make([]raft.Server, len(list.Members)) // in the order of the list, which is the same on all
	for i, m := range list.Members {
		servers[i] = raft.Server{ID: raft.ServerID(m.ID), Address: raft.ServerAddress(m.ID)}
	}
	return servers
}

// initPeerList makes the list of a cluster that starts with this node.
func (n *Node) initPeerList() error {
	hash, err := member.KeyHash(n.credentials.Key)
	if err != nil {
		return err
	}
	a, err := member.NewAuthority(n.config.Rand, n.config.Secrets, n.config.Now())
	if err != nil {
		return err
	}
	return n.folder.PeerList.Replace(member.PeerListData{
		InitialCluster: true,
		Members: []member.Member{{
			ID: string(n.id), Name: n.config.Name, Address: n.config.Network.Advertise, Key: hash,
			Version: n.config.Version, Level: n.core.Supports(), Issuer: a.ID,
		}},
		Authorities: []member.Authority{a},
	})
}

// bootstrapMembers writes the first members into the state.
func (n *Node) bootstrapMembers(ctx context.Context) error {
	n.bootstrapMu.Lock()
	defer n.bootstrapMu.Unlock()
	if n.config.Network == nil || len(member.All(n.View())) > 0 {
		return nil
	}
	if n.folder.PeerList.Empty() {
		// The folder was made by a node that ran alone.
		if err := n.initPeerList(); err != nil {
			return err
		}
	}
	list := n.folder.PeerList.Get()
	_, err := n.decide(ctx, &member.Bootstrap{Members: list.Members, Authorities: list.Authorities})
	return err
}
