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

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Nodes with generated folders make their cluster together: each starts with an empty
// log and the same configuration. A node that was given its generated folder a second
// time, because it lost its data, must not do that again: it has forgotten its votes and
// what it acknowledged, and could make a majority with one other node that lacks an
// acknowledged command.
//
// So no node begins before it has reached all others. Each makes an instance id, at random
// and kept with its log, and sends it to every node that asks. A node that begins writes
// down the instance ids of all. A node may begin with nodes that wait too, or with one
// that has begun and knows its instance id: then it was there, and has lost nothing
// since. A node that has begun and knows another instance id, or none, refuses it for
// good.

// staticBootstrap makes the cluster of a node with an empty log. Its fields but the first
// two are set before it is used.
type staticBootstrap struct {
	instanceID atomic.Pointer[[]byte] // while the node waits for the other initial nodes, nil otherwise
	mu         sync.Mutex             // held while the first members are written to the state

	config *Config
	id     raft.ServerID
	folder *integrity.Folder
	net    *connections
	core   *machine.State
	state  replicatedState
}

// waiting reports whether the node waits for the other initial nodes.
func (b *staticBootstrap) waiting() bool { return b.instanceID.Load() != nil }

// done is called when raft runs.
func (b *staticBootstrap) done() { b.instanceID.Store(nil) }

// bootstrapAnswer is the answer to OpBootstrap.
type bootstrapAnswer struct {
	Started     bool              `cbor:"1,keyasint,omitempty"`
	InstanceIDs map[string][]byte `cbor:"2,keyasint,omitempty"` // by id: of all nodes where it has begun, else its own
}

const (
	bootstrapPollInterval = 200 * time.Millisecond
	// bootstrapLogInterval is how often it is logged for which nodes this one waits.
	bootstrapLogInterval = 30 * time.Second
)

// await returns when this node may begin, if it makes its cluster with other nodes.
// Until raft runs it answers OpBootstrap only.
func (b *staticBootstrap) await(ctx context.Context) error {
	list := b.folder.PeerList.Get()
	if !list.InitialCluster || len(list.Members) < 2 {
		return nil
	}
	if err := b.checkInitialFolder(); err != nil {
		return err
	}
	instanceID, err := b.folder.InstanceID()
	if err != nil {
		return err
	}
	b.instanceID.Store(&instanceID)
	b.net.network.Start()
	instanceIDs, err := b.pollInitialNodes(ctx, list, instanceID)
	if err != nil {
		return err
	}
	list.Members = slices.Clone(list.Members)
	for i := range list.Members {
		list.Members[i].InstanceID = instanceIDs[list.Members[i].ID]
	}
	return b.folder.PeerList.Replace(list)
}

// checkInitialFolder detects a folder that was put together from several, or is not
// complete.
func (b *staticBootstrap) checkInitialFolder() error {
	if b.config.Network == nil {
		return errors.New("the data directory belongs to a cluster of several nodes, and this node has no network")
	}
	hash, err := member.KeyHash(b.net.credentials.Key)
	if err != nil {
		return err
	}
	if me, ok := b.folder.PeerList.Member(string(b.id)); !ok || !bytes.Equal(me.Key, hash) {
		return fmt.Errorf("%s, node.key and %s are not from the same generated folder", member.NodeIDFile, member.PeersFile)
	}
	_, err = b.net.credentials.Current() // opens the authority's key
	return err
}

// pollInitialNodes asks all others again and again. Only answers of one round count: a
// node may lose its data while others are still waited for.
func (b *staticBootstrap) pollInitialNodes(ctx context.Context, list member.PeerListData, instanceID []byte) (map[string][]byte, error) {
	var said string
	var saidAt time.Time
	for {
		answers, silent := b.askInitialNodes(ctx, list)
		instanceIDs, err := decideBootstrap(string(b.id), instanceID, list.Members, answers)
		if b.config.hooks.Bootstrap != nil && err == nil {
			err = b.config.hooks.Bootstrap(len(instanceIDs) > 0, silent)
		}
		if err != nil || len(instanceIDs) > 0 {
			return instanceIDs, err
		}
		why := "waits for " + strings.Join(silent, ", ")
		if b.config.OnBootstrapWait != nil {
			b.config.OnBootstrapWait(why)
		}
		if why != said || time.Since(saidAt) > bootstrapLogInterval {
			b.config.Logger.WarnContext(ctx, "initial nodes not reached, static bootstrap waiting", "waiting_for", silent)
			said, saidAt = why, time.Now()
		}
		select {
		case <-time.After(bootstrapPollInterval):
		case <-ctx.Done():
			return nil, fmt.Errorf("bootstrap cluster: %s: %w", why, ctx.Err())
		}
	}
}

// askInitialNodes asks all other members once. silent describes those that gave no
// answer.
func (b *staticBootstrap) askInitialNodes(ctx context.Context, list member.PeerListData) (answers map[string]bootstrapAnswer, silent []string) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	var mu sync.Mutex
	var asking sync.WaitGroup
	answers = make(map[string]bootstrapAnswer)
	for _, m := range list.Members {
		if m.ID == string(b.id) {
			continue
		}
		asking.Go(func() {
			a, err := b.askInitialNode(ctx, m.ID)
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

func (b *staticBootstrap) askInitialNode(ctx context.Context, id string) (bootstrapAnswer, error) {
	var a bootstrapAnswer
	r, err := b.net.peers.Ask(ctx, id, nil, transport.OpBootstrap, nil, statusTimeout)
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
			return nil, fmt.Errorf("node %s refuses this node: %w", m.Name, store.ErrDataLost)
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

// serve answers OpBootstrap.
func (b *staticBootstrap) serve() transport.Reply {
	a := bootstrapAnswer{Started: true, InstanceIDs: make(map[string][]byte)}
	if instanceID := b.instanceID.Load(); instanceID != nil {
		a = bootstrapAnswer{InstanceIDs: map[string][]byte{string(b.id): *instanceID}}
	} else {
		for _, m := range b.folder.PeerList.Get().Members {
			if len(m.InstanceID) > 0 {
				a.InstanceIDs[m.ID] = m.InstanceID
			}
		}
	}
	body, err := machine.Marshal(a)
	if err != nil {
		return transport.Reply{Status: transport.ReplyFailed, Body: []byte(err.Error())}
	}
	return transport.Reply{Status: transport.ReplyOK, Body: body}
}

// run makes an empty folder a cluster of this node. One that joined another cluster is
// left to its leader.
func (b *staticBootstrap) run(conf *raft.Config) error {
	switch list := b.folder.PeerList.Get(); {
	case len(list.Members) > 0 && !list.InitialCluster:
		return nil
	case len(list.Members) == 0 && b.config.Network != nil:
		if err := b.initPeerList(); err != nil {
			return fmt.Errorf("bootstrap: %w", err)
		}
	}
	// A term without a log is a bootstrap that was killed between its two writes:
	// raft would treat it as a used folder without members.
	if err := b.folder.Store.Stable.SetUint64([]byte(store.KeyTerm), 0); err != nil {
		return fmt.Errorf("bootstrap: reset term: %w", err)
	}
	first := raft.Configuration{Servers: b.initialServers()}
	if err := raft.BootstrapCluster(conf, b.folder.Store.Logs, b.folder.Store.Stable, b.folder.Snapshots, b.net.raft, first); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	return nil
}

// initialServers is the configuration that an empty folder begins with.
func (b *staticBootstrap) initialServers() []raft.Server {
	list := b.folder.PeerList.Get()
	if !list.InitialCluster || len(list.Members) < 2 {
		return []raft.Server{{ID: b.id, Address: b.net.raft.LocalAddr()}}
	}
	servers := make([]raft.Server, len(list.Members)) // in the order of the list, which is the same on all
	for i, m := range list.Members {
		servers[i] = raft.Server{ID: raft.ServerID(m.ID), Address: raft.ServerAddress(m.ID)}
	}
	return servers
}

// initPeerList makes the list of a cluster that starts with this node.
func (b *staticBootstrap) initPeerList() error {
	hash, err := member.KeyHash(b.net.credentials.Key)
	if err != nil {
		return err
	}
	a, err := member.NewAuthority(b.config.Rand, b.config.Secrets, b.config.Now())
	if err != nil {
		return err
	}
	return b.folder.PeerList.Replace(member.PeerListData{
		InitialCluster: true,
		Members: []member.Member{{
			ID: string(b.id), Name: b.config.Name, Address: b.config.Network.Advertise, Key: hash,
			Version: b.config.Version, Level: b.core.Supports(), Issuer: a.ID,
		}},
		Authorities: []member.Authority{a},
	})
}

// writeMembers writes the first members into the state.
func (b *staticBootstrap) writeMembers(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.config.Network == nil || len(member.All(b.state.View())) > 0 {
		return nil
	}
	if b.folder.PeerList.Empty() {
		// The folder was made by a node that ran alone.
		if err := b.initPeerList(); err != nil {
			return err
		}
	}
	list := b.folder.PeerList.Get()
	_, err := b.state.decide(ctx, &member.Bootstrap{Members: list.Members, Authorities: list.Authorities})
	return err
}
