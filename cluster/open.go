package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/fsm"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Open starts the node whose folder is c.Dir. A sole voter leads, and has
// applied everything that was committed, when Open returns; another node shows
// what it had applied when it stopped, but for the last moment, and may still be
// looking for its leader: ViewFresh waits for it.
func Open(ctx context.Context, c Config) (*Node, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open cluster: %w", err)
	}
	n := &Node{
		config:            c,
		log:               c.Logger,
		queue:             make(chan *request, c.QueueSize),
		entries:           make(chan struct{}, maxEntriesInFlight),
		notify:            make(chan bool, notifyBuffer),
		removed:           integrity.NewRemoved(),
		disconnects:       make(chan string, 1),
		closing:           make(chan struct{}),
		built:             make(chan struct{}),
		stopped:           make(chan struct{}),
		logHandshakesDone: make(chan struct{}),

		barriers:                barriers{op: transport.OpBarrier},
		unauthenticatedBarriers: barriers{op: transport.OpUnauthenticatedBarrier, pace: unauthenticatedPace},

		configMu:     newTryMutex(),
		incarnations: integrity.NewIncarnations(),
	}
	n.config.Fatal = func(err error) {
		n.reportExit(err)
		c.Fatal(err)
	}
	if err := n.initIncarnation(); err != nil {
		return nil, fmt.Errorf("open cluster: %w", err)
	}
	if err := n.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open cluster: %w", err), n.abandon())
	}
	return n, nil
}

// open fills in n. What it opened before an error is closed by abandon.
func (n *Node) open(ctx context.Context) (err error) {
	if err := integrity.CheckRemoved(n.config.Dir); err != nil {
		return err
	}
	if err := n.openFiles(); err != nil {
		return err
	}
	snapshots := n.folder.Snapshots
	n.rollbackDetector = integrity.NewRollbackDetector(n.folder, n.incarnations)
	fresh, err := n.folder.IsFresh()
	if err != nil {
		return err
	}
	if err := n.checkLevel(); err != nil {
		return err
	}
	if _, err := recovery.Pending(n.config.Dir); err != nil {
		return err
	}
	known, err := n.folder.LoadCommitMarker()
	if err != nil {
		return err
	}
	if err := n.folder.CheckInstanceID(fresh, known); err != nil {
		return err
	}
	if err := n.folder.DropReplacedLog(n.core.CheckSnapshot); err != nil {
		return err
	}
	if fresh && !n.config.Bootstrap && n.folder.PeerList.Empty() {
		return ErrEmpty
	}
	if n.id, err = n.folder.Identity(); err != nil {
		return err
	}
	if err := n.checkName(); err != nil {
		return err
	}
	log := store.NewLogger(n.log)
	if err := n.connect(log); err != nil {
		return err
	}
	n.startWatchdog()
	conf := n.raftConfig(log)
	if fresh {
		if s := n.watchdog.disk.State(); s.Trouble() != nil {
			return fmt.Errorf("create data folder: %w", n.diskError(s))
		}
		if err := n.awaitInitialCluster(ctx); err != nil {
			return err
		}
		if err := n.bootstrap(conf, snapshots); err != nil {
			return err
		}
	}
	if err := n.folder.WriteInstanceIDFile(); err != nil {
		return err
	}
	if err := n.folder.CreateCommitMarker(known); err != nil {
		return err
	}
	n.folder.Marker.Replace(known)
	if err := n.live.open(n.config.Dir); err != nil {
		return err
	}
	state := fsm.New(n.core, n.config.Fatal, snapshots, &n.folder.Marker)
	state.Stop, state.BeforeApply = n.closing, n.config.hooks.fsm
	n.folder.Marker.BeforeWrite = n.config.hooks.commitMarker
	n.raft, err = raft.NewRaft(conf, state, n.folder.Store.Logs, n.folder.Store.Stable, snapshots, n.transport)
	if err != nil {
		return fmt.Errorf("start raft: %w", err)
	}
	n.lastContact.open()
	n.bootstrapWait.done()
	state.Started()
	n.running.Go(func() { state.Replay(n.folder.Store.Logs, known.Index, n.isClosing) })
	n.folder.Marker.Start(n.config.Dir, n.log)
	n.running.Go(n.trackLive)
	n.running.Go(n.watchLeadership)
	n.running.Go(n.buildEntries)
	n.running.Go(n.writeCheckpoints)
	n.running.Go(n.syncPeerList)
	n.running.Go(func() { n.WhileLeading(context.Background(), n.reconcileMembers) })
	n.running.Go(n.reportSelf)
	n.running.Go(n.checkDisconnects)
	n.running.Go(n.runWatchdog)
	if n.config.Network != nil {
		n.running.Go(n.watchLeaderConn)
		n.running.Go(n.watchLastContact)
	}
	n.network.Start()
	n.running.Go(n.handshakeVoters)
	if err := state.AwaitReplay(ctx); err != nil {
		return err
	}
	n.watchdog.start.loaded.Store(true)
	n.checkStartClock()
	return n.awaitLeadership(ctx)
}

// connect prepares the network; nothing is accepted yet.
func (n *Node) connect(log *store.Logger) (err error) {
	if n.config.Network != nil {
		if err := n.folder.CheckKeyExists(); err != nil {
			return err
		}
		key, err := member.NodeKey(n.config.Rand, n.config.Dir)
		if err != nil {
			return err
		}
		n.credentials = &member.Credentials{
			ID: string(n.id), Key: key, Rand: n.config.Rand, Secrets: n.config.Secrets, Now: n.config.Now, PeerList: n.folder.PeerList,
		}
		if err := cmp.Or(n.folder.CheckKeyMatches(string(n.id), key), n.folder.CheckClusterKey(n.canOpenAuthority)); err != nil {
			return err
		}
	}
	n.network = transport.NewNetwork(string(n.id), n.config.Network, n.folder.PeerList, n.credentials, n.log.Warn)
	n.peers = transport.NewPeers(n.network, transport.Handler{
		Serve: n.serveCall, IsMember: n.isMember, OnDisconnect: n.noteDisconnect, MaxTime: n.config.ProposeTimeout,
	})
	n.removed.Dir, n.removed.Node, n.removed.Now, n.removed.Log = n.config.Dir, string(n.id), n.config.Now, n.log
	n.removed.Isolate = func() { n.network.Isolate(transport.IsolationRemoved, true) }
	n.network.Serve = n.servePeers
	n.network.LogHandshake = n.logHandshake
	n.network.NotServed = func(protocol string) bool { return protocol != transport.ProtocolPeer && n.bootstrapWait.waiting() }
	n.transport = transport.New(n.network, log)
	n.transport.OnAck = func(id string, index, term, committed uint64) {
		n.rollbackDetector.RecordAck(id, integrity.Position{Index: index, Term: term}, committed)
	}
	return nil
}

// servePeers is what becomes of a connection that is not raft's.
func (n *Node) servePeers(protocol, peer string, key []byte, c *tls.Conn) {
	if protocol == transport.ProtocolJoin {
		n.serveJoin(c, key)
		return
	}
	n.peers.Serve(c, peer)
}

func (n *Node) raftConfig(log *store.Logger) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = n.id
	c.CommitTimeout = n.config.CommitTimeout
	c.SnapshotInterval = n.config.SnapshotInterval
	c.SnapshotThreshold = n.config.SnapshotThreshold
	c.TrailingLogs = n.config.TrailingLogs
	c.ShutdownOnRemove = false
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = transport.ElectionTimeout, transport.ElectionTimeout, transport.LeaseTimeout
	c.NotifyCh = n.notify
	c.Logger = log
	c.NoLegacyTelemetry = true
	if n.config.hooks.raft != nil {
		n.config.hooks.raft(c)
	}
	return c
}

// bootstrap makes an empty folder a cluster of this node. One that joined
// another cluster is left to its leader.
func (n *Node) bootstrap(conf *raft.Config, snapshots raft.SnapshotStore) error {
	switch list := n.folder.PeerList.Get(); {
	case len(list.Members) > 0 && !list.InitialCluster:
		return nil
	case len(list.Members) == 0 && n.config.Network != nil:
		if err := n.initPeerList(); err != nil {
			return fmt.Errorf("bootstrap: %w", err)
		}
	}
	// A term without a log is a bootstrap that was killed between its two writes:
	// raft would take it for a used folder that nobody belongs to.
	if err := n.folder.Store.Stable.SetUint64([]byte(store.KeyTerm), 0); err != nil {
		return fmt.Errorf("bootstrap: reset term: %w", err)
	}
	first := raft.Configuration{Servers: n.initialServers()}
	if err := raft.BootstrapCluster(conf, n.folder.Store.Logs, n.folder.Store.Stable, snapshots, n.transport, first); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	return nil
}

// awaitLeadership returns when a sole voter leads: it has nobody to wait for and elects
// itself at once.
func (n *Node) awaitLeadership(ctx context.Context) error {
	if !n.soleVoter() {
		return nil
	}
	n.campaign()
	for {
		leading, changed := n.Leading()
		if leading && n.watchdog.clock.IsStarting() {
			return nil // see AwaitClock
		}
		if leading {
			return n.completeBootstrap(ctx)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for leadership: %w", ctx.Err())
		}
	}
}

// completeBootstrap does for a sole voter what its state lacks: it founds the cluster, and
// raises the feature level to that of the program.
func (n *Node) completeBootstrap(ctx context.Context) error {
	if err := n.bootstrapMembers(ctx); err != nil {
		return err
	}
	return n.reconcileLevel(ctx, member.All(n.View()))
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
