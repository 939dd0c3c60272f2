package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
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
		removedCh:         make(chan struct{}),
		disconnects:       make(chan string, 1),
		closing:           make(chan struct{}),
		built:             make(chan struct{}),
		stopped:           make(chan struct{}),
		logHandshakesDone: make(chan struct{}),

		barriers:                barriers{op: opBarrier},
		unauthenticatedBarriers: barriers{op: opUnauthenticatedBarrier, pace: unauthenticatedPace},

		configMu:     newTryMutex(),
		incarnations: newIncarnations(),
	}
	n.config.Fatal = func(err error) {
		n.reportExit(err)
		c.Fatal(err)
	}
	n.commitMarker.wake = make(chan struct{}, 1)
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
	if err := checkRemoved(n.config.Dir); err != nil {
		return err
	}
	snapshots, err := n.openFiles()
	if err != nil {
		return err
	}
	n.snapshots = snapshots
	fresh, err := n.isFresh(snapshots)
	if err != nil {
		return err
	}
	if err := n.checkLevel(); err != nil {
		return err
	}
	if _, err := PendingRecovery(n.config.Dir); err != nil {
		return err
	}
	known, err := n.loadCommitMarker()
	if err != nil {
		return err
	}
	if err := n.checkInstanceID(fresh, snapshots, known); err != nil {
		return err
	}
	if err := n.dropReplacedLog(snapshots); err != nil {
		return err
	}
	if fresh && !n.config.Bootstrap && n.peerList.empty() {
		return ErrEmpty
	}
	if n.id, err = n.identity(); err != nil {
		return err
	}
	if err := n.checkName(); err != nil {
		return err
	}
	log := newLogger(n.log)
	if err := n.connect(log); err != nil {
		return err
	}
	n.startWatchdog()
	conf := n.raftConfig(log)
	if fresh {
		if s := n.watchdog.disk.state(); s.trouble() != nil {
			return fmt.Errorf("create data folder: %w", n.diskError(s))
		}
		if err := n.awaitInitialCluster(ctx); err != nil {
			return err
		}
		if err := n.bootstrap(conf, snapshots); err != nil {
			return err
		}
	}
	if err := n.writeInstanceIDFile(); err != nil {
		return err
	}
	if err := n.createCommitMarker(known); err != nil {
		return err
	}
	n.commitMarker.replace(known)
	if err := n.live.open(n.config.Dir); err != nil {
		return err
	}
	state := newFSM(n.core, n.config.Fatal, snapshots, &n.commitMarker)
	state.stop, state.beforeApply = n.closing, n.config.hooks.fsm
	n.commitMarker.beforeWrite = n.config.hooks.commitMarker
	n.raft, err = raft.NewRaft(conf, state, n.stores.logs, n.stores.stable, snapshots, n.transport)
	if err != nil {
		return fmt.Errorf("start raft: %w", err)
	}
	n.lastContact.open()
	n.bootstrapWait.done()
	state.running.Store(true)
	n.running.Go(func() { n.runLocalReplay(state, known.index) })
	n.commitMarker.start(n.config.Dir, n.log)
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
	n.network.start()
	n.running.Go(n.handshakeVoters)
	if err := n.awaitLocalReplay(ctx, state); err != nil {
		return err
	}
	n.watchdog.start.loaded.Store(true)
	n.checkStartClock()
	return n.awaitLeadership(ctx)
}

// connect prepares the network; nothing is accepted yet.
func (n *Node) connect(log *logger) (err error) {
	if n.config.Network != nil {
		if err := n.checkKeyExists(); err != nil {
			return err
		}
		key, err := nodeKey(n.config.Rand, n.config.Dir)
		if err != nil {
			return err
		}
		n.credentials = &credentials{
			id: string(n.id), key: key, rand: n.config.Rand, secrets: n.config.Secrets, now: n.config.Now, peerList: n.peerList,
		}
		if err := cmp.Or(n.checkKeyMatches(), n.checkClusterKey()); err != nil {
			return err
		}
	}
	n.network = newNetwork(string(n.id), n.config.Network, n.peerList, n.credentials, n.log.Warn)
	n.network.serve = n.servePeers
	n.network.logHandshake = n.logHandshake
	n.network.notServed = func(protocol string) bool { return protocol != protocolPeer && n.bootstrapWait.waiting() }
	n.transport = newTransport(n.network, log)
	n.transport.onAck = n.rollbackDetector.recordAck
	return nil
}

// servePeers is what becomes of a connection that is not raft's.
func (n *Node) servePeers(protocol, peer string, key []byte, c *tls.Conn) {
	if protocol == protocolJoin {
		n.serveJoin(c, key)
		return
	}
	n.servePeer(c, peer)
}

// How long a leader may be silent before raft has others campaign, at
// random up to three times that, where it was not replaced before, see leader_loss.go;
// and how soon a leader that hears from no majority stops. A node that was slow
// itself does no harm, since the others don't vote against a leader they hear from
// (raft §9.6).
const (
	electionTimeout = 700 * time.Millisecond
	leaseTimeout    = 400 * time.Millisecond
)

func (n *Node) raftConfig(log *logger) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = n.id
	c.CommitTimeout = n.config.CommitTimeout
	c.SnapshotInterval = n.config.SnapshotInterval
	c.SnapshotThreshold = n.config.SnapshotThreshold
	c.TrailingLogs = n.config.TrailingLogs
	c.ShutdownOnRemove = false
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = electionTimeout, electionTimeout, leaseTimeout
	c.NotifyCh = n.notify
	c.Logger = log
	c.NoLegacyTelemetry = true
	if n.config.hooks.raft != nil {
		n.config.hooks.raft(c)
	}
	return c
}

// isFresh reports whether there is neither a log nor a snapshot.
func (n *Node) isFresh(snapshots raft.SnapshotStore) (bool, error) {
	last, err := n.stores.logs.LastIndex()
	if err != nil {
		return false, fmt.Errorf("read log: %w", err)
	}
	taken, err := snapshots.List()
	if err != nil {
		return false, fmt.Errorf("list snapshots: %w", err)
	}
	return last == 0 && len(taken) == 0, nil
}

// bootstrap makes an empty folder a cluster of this node. One that joined
// another cluster is left to its leader.
func (n *Node) bootstrap(conf *raft.Config, snapshots raft.SnapshotStore) error {
	switch list := n.peerList.get(); {
	case len(list.Members) > 0 && !list.InitialCluster:
		return nil
	case len(list.Members) == 0 && n.config.Network != nil:
		if err := n.initPeerList(); err != nil {
			return fmt.Errorf("bootstrap: %w", err)
		}
	}
	// A term without a log is a bootstrap that was killed between its two writes:
	// raft would take it for a used folder that nobody belongs to.
	if err := n.stores.stable.SetUint64([]byte(keyTerm), 0); err != nil {
		return fmt.Errorf("bootstrap: reset term: %w", err)
	}
	first := raft.Configuration{Servers: n.initialServers()}
	if err := raft.BootstrapCluster(conf, n.stores.logs, n.stores.stable, snapshots, n.transport, first); err != nil {
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
		if leading && n.watchdog.clock.isStarting() {
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
	return n.reconcileLevel(ctx, members(n.View()))
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
