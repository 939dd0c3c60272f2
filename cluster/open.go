package cluster

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/raft"
)

// Open starts the node whose folder is c.Dir, and returns when it leads and has
// applied everything that was committed. An empty folder becomes a cluster of
// one.
func Open(ctx context.Context, c Config) (*Node, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open cluster: %w", err)
	}
	n := &Node{
		config:  c,
		log:     c.Logger,
		queue:   make(chan *request, c.QueueSize),
		entries: make(chan struct{}, entriesUnderWay),
		notify:  make(chan bool, notifyBuffer),
		closing: make(chan struct{}),
		built:   make(chan struct{}),
		stopped: make(chan struct{}),
	}
	if err := n.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open cluster: %w", err), n.abandon())
	}
	return n, nil
}

// open fills in n. What it opened before an error is closed by abandon.
func (n *Node) open(ctx context.Context) (err error) {
	if n.core, err = newCore(n.config.Machine); err != nil {
		return err
	}
	if err := privateDir(n.config.Dir); err != nil {
		return fmt.Errorf("create data directory: %w", err)
	}
	if n.lock, err = lockDir(n.config.Dir); err != nil {
		return err
	}
	log := newLogger(n.log)
	if n.stores, err = openStores(&n.config, log, n.verified); err != nil {
		return err
	}
	snapshots, err := openSnapshots(n.config.Dir, log)
	if err != nil {
		return err
	}
	if n.id, err = n.identity(); err != nil {
		return err
	}
	n.transport = newTransport(newAloneLayer(), log)
	conf := n.raftConfig(log)
	if err := n.bootstrap(conf, snapshots); err != nil {
		return err
	}
	state := &fsm{core: n.core, fatal: n.config.Fatal, stop: n.closing, before: n.config.hooks.fsm}
	n.raft, err = raft.NewRaft(conf, state, n.stores.logs, n.stores.stable, snapshots, n.transport)
	if err != nil {
		return fmt.Errorf("start raft: %w", err)
	}
	n.running.Go(n.watchLeadership)
	n.running.Go(n.buildEntries)
	n.running.Go(n.checkpoints)
	return n.lead(ctx)
}

// identity returns this node's id, which it makes when there is none. It lies
// in the stable store, so that it can't be lost without the votes cast under it.
func (n *Node) identity() (raft.ServerID, error) {
	key := []byte("NodeID")
	id, err := n.stores.stable.Get(key)
	if err != nil {
		return "", fmt.Errorf("read node id: %w", err)
	}
	if len(id) > 0 {
		return raft.ServerID(id), nil
	}
	var random [8]byte
	if _, err := io.ReadFull(n.config.Rand, random[:]); err != nil {
		return "", fmt.Errorf("make node id: %w", err)
	}
	id = []byte(hex.EncodeToString(random[:]))
	if err := n.stores.stable.Set(key, id); err != nil {
		return "", fmt.Errorf("write node id: %w", err)
	}
	return raft.ServerID(id), nil
}

func (n *Node) raftConfig(log *logger) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = n.id
	c.CommitTimeout = n.config.CommitTimeout
	c.SnapshotInterval = n.config.SnapshotInterval
	c.SnapshotThreshold = n.config.SnapshotThreshold
	c.TrailingLogs = n.config.TrailingLogs
	c.ShutdownOnRemove = false
	c.NotifyCh = n.notify
	c.Logger = log
	c.NoLegacyTelemetry = true
	return c
}

// bootstrap makes an empty folder a cluster of this node.
func (n *Node) bootstrap(conf *raft.Config, snapshots raft.SnapshotStore) error {
	last, err := n.stores.logs.LastIndex()
	if err != nil {
		return fmt.Errorf("bootstrap: read log: %w", err)
	}
	taken, err := snapshots.List()
	if err != nil {
		return fmt.Errorf("bootstrap: list snapshots: %w", err)
	}
	if last > 0 || len(taken) > 0 {
		return nil
	}
	// A term without a log is a bootstrap that was killed between its two writes:
	// raft would take it for a used folder that nobody belongs to.
	if err := n.stores.stable.SetUint64([]byte("CurrentTerm"), 0); err != nil {
		return fmt.Errorf("bootstrap: reset term: %w", err)
	}
	alone := raft.Configuration{Servers: []raft.Server{{ID: n.id, Address: n.transport.LocalAddr()}}}
	if err := raft.BootstrapCluster(conf, n.stores.logs, n.stores.stable, snapshots, n.transport, alone); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	return nil
}

// lead returns when this node leads. A sole voter has nobody to wait for and
// elects itself at once.
func (n *Node) lead(ctx context.Context) error {
	if n.soleVoter() {
		err := n.transport.TimeoutNow(n.id, n.transport.LocalAddr(), &raft.TimeoutNowRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(n.id)},
		}, &raft.TimeoutNowResponse{})
		if err != nil {
			n.log.WarnContext(ctx, "cluster: the node waits for the election timeout", "error", err)
		}
	}
	for {
		leading, changed := n.Leading()
		if leading {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for leadership: %w", ctx.Err())
		}
	}
}

func (n *Node) soleVoter() bool {
	voters := 0
	sole := false
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			voters++
			sole = s.ID == n.id
		}
	}
	return sole && voters == 1
}

// abandon closes what a failed open left.
func (n *Node) abandon() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return n.Close(ctx)
}
