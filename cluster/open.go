package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/election"
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
	n := &Node{config: c, log: c.Logger, lifecycle: newLifecycle(), changes: memberChanges{raft: newTryMutex()}}
	n.checks.removed = integrity.NewRemoved()
	if n.checks.duplicates, err = integrity.NewDuplicateCheck(c.Now()); err != nil {
		return nil, fmt.Errorf("open cluster: %w", err)
	}
	n.config.Fatal = func(err error) {
		if n.statuses != nil {
			n.statuses.reportExit(err)
		}
		c.Fatal(err)
	}
	if err := n.open(ctx); err != nil {
		closing, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("open cluster: %w", err), n.Close(closing))
	}
	return n, nil
}

// open opens the parts of n. After an error, Open closes those that were opened.
func (n *Node) open(ctx context.Context) error {
	if err := integrity.CheckRemoved(n.config.Dir); err != nil {
		return err
	}
	fresh, known, err := n.openFolder()
	if err != nil {
		return err
	}
	log := store.NewLogger(n.log)
	if err := n.connect(log); err != nil {
		return err
	}
	n.assemble()
	conf := n.raftConfig(log)
	if fresh {
		if s := n.watchdog.disk.State(); s.Trouble() != nil {
			return fmt.Errorf("create data folder: %w", n.watchdog.diskError(s))
		}
		if err := n.bootstrap.await(ctx); err != nil {
			return err
		}
		if err := n.bootstrap.run(conf); err != nil {
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
	if err := n.live.open(); err != nil {
		return err
	}
	state := fsm.New(n.core, n.config.Fatal, n.folder.Snapshots, &n.folder.Marker)
	state.Stop, state.BeforeApply = n.closing, n.config.hooks.FSM
	n.folder.Marker.BeforeWrite = n.config.hooks.CommitMarker
	n.raft, err = raft.NewRaft(conf, state, n.folder.Store.Logs, n.folder.Store.Stable, n.folder.Snapshots, n.net.raft)
	if err != nil {
		return fmt.Errorf("start raft: %w", err)
	}
	n.leader.Start(n.raft)
	n.bootstrap.done()
	state.Started()
	n.running.Go(func() { state.Replay(n.folder.Store.Logs, known.Index, n.isClosing) })
	n.folder.Marker.Start(n.config.Dir, n.log)
	n.running.Go(n.live.track)
	n.running.Go(n.leader.Watch)
	n.running.Go(n.pipeline.build)
	n.running.Go(n.writeCheckpoints)
	n.running.Go(n.syncPeerList)
	n.running.Go(func() { n.WhileLeading(context.Background(), n.reconcileMembers) })
	n.running.Go(n.reportSelf)
	n.running.Go(n.membership.watchDisconnects)
	n.running.Go(n.watchdog.run)
	if n.config.Network != nil {
		n.running.Go(n.leader.WatchConn)
		n.running.Go(n.leader.WatchLastContact)
	}
	n.net.network.Start()
	n.running.Go(n.handshakeVoters)
	if err := state.AwaitReplay(ctx); err != nil {
		return err
	}
	n.watchdog.start.loaded.Store(true)
	n.watchdog.checkStartClock()
	return n.awaitLeadership(ctx)
}

// openFolder opens what is in the folder, and refuses a folder with which this node must
// not start. known is the last entry that it is known to have had.
func (n *Node) openFolder() (fresh bool, known integrity.Position, err error) {
	if err := n.openFiles(); err != nil {
		return false, known, err
	}
	if fresh, err = n.folder.IsFresh(); err != nil {
		return false, known, err
	}
	// A program that is older than the cluster takes part in nothing.
	if err := n.core.CheckLevel(n.folder.PeerList.Get().Level); err != nil {
		return false, known, err
	}
	if _, err := recovery.Pending(n.config.Dir); err != nil {
		return false, known, err
	}
	if known, err = n.folder.LoadCommitMarker(); err != nil {
		return false, known, err
	}
	if err := n.folder.CheckInstanceID(fresh, known); err != nil {
		return false, known, err
	}
	if err := n.folder.DropReplacedLog(n.core.CheckSnapshot); err != nil {
		return false, known, err
	}
	if fresh && !n.config.Bootstrap && n.folder.PeerList.Empty() {
		return false, known, ErrEmpty
	}
	if n.id, err = n.folder.Identity(); err != nil {
		return false, known, err
	}
	return fresh, known, n.checkName()
}

// connect prepares the network; nothing is accepted yet.
func (n *Node) connect(log hclog.Logger) error {
	list := n.folder.PeerList
	n.authorities = &Authorities{
		state: n, networked: n.config.Network != nil, sealer: n.config.Secrets, rand: n.config.Rand, now: n.config.Now,
		list: list, nameOf: n.nameOf, log: n.log,
	}
	conns := new(connections)
	if n.config.Network != nil {
		if err := n.folder.CheckKeyExists(); err != nil {
			return err
		}
		key, err := member.NodeKey(n.config.Rand, n.config.Dir)
		if err != nil {
			return err
		}
		conns.credentials = &member.Credentials{
			ID: string(n.id), Key: key, Rand: n.config.Rand, Secrets: n.config.Secrets, Now: n.config.Now, PeerList: list,
		}
		if err := cmp.Or(n.folder.CheckKeyMatches(string(n.id), key), n.folder.CheckClusterKey(n.authorities.canOpen)); err != nil {
			return err
		}
	}
	conns.network = transport.NewNetwork(string(n.id), n.config.Network, list, conns.credentials, n.log.Warn)
	n.membership = &membershipCheck{
		removed: n.checks.removed, network: conns.network, list: list, closing: n.closing, disconnects: make(chan string, 1),
	}
	conns.peers = transport.NewPeers(conns.network, transport.Handler{
		Serve: n.serveCall, IsMember: n.isMember, OnDisconnect: n.membership.noteDisconnect, MaxTime: n.config.ProposeTimeout,
	})
	conns.raft = transport.New(conns.network, log)
	n.net = conns
	return nil
}

// assemble makes the parts of the node that work on its folder and its connections. raft
// does not run yet.
func (n *Node) assemble() {
	id, list, network := string(n.id), n.folder.PeerList, n.net.network
	networked, elapsed := n.config.Network != nil, n.config.elapsedClock()
	start := func(f func()) { n.running.Go(f) }
	n.completeChecks()

	n.statuses = &peerStatuses{
		self: id, own: n.status, peers: n.net.peers, list: list, networked: networked, log: n.log, nameOf: n.nameOf,
		now: n.config.Now, elapsed: elapsed, checks: &n.checks, live: &n.live,
		samples: make(map[string]peerSample), roundDone: make(chan struct{}),
	}
	n.authorities.silent = func() []string { return n.statuses.silent(nil) }
	n.checks.rollback = integrity.NewLogHandshake(integrity.NewRollbackDetector(n.folder, n.checks.duplicates.Incarnations), integrity.LogHandshakeConfig{
		Duplicates: n.checks.duplicates, NameOf: n.nameOf, Log: n.log, Fatal: n.config.Fatal, Go: start, Closing: n.closing,
		NextRound:  n.statuses.nextRound,
		CloseConns: func() { network.CloseConns(func(string) bool { return true }) },
	})
	n.leader = election.New(election.Config{
		ID: n.id, Log: n.log, Transport: n.net.raft, Peers: n.net.peers, NameOf: n.nameOf, CallTimeout: statusTimeout,
		CampaignInterval: n.config.hooks.CampaignInterval, LossTimeout: n.config.hooks.LeaderLossTimeout,
		Ready: n.readyToLead, OnLeader: n.checks.rollback.RecordLed, Candidates: n.statuses.candidates,
		Go: start, Closing: n.closing, Stopped: n.stopped,
	})
	n.watchdog = n.newWatchdog(elapsed)

	raftApply := func(entry []byte) raft.ApplyFuture { return n.raft.Apply(entry, n.config.QueueTimeout/2) }
	if n.config.hooks.Apply != nil {
		raftApply = func(entry []byte) raft.ApplyFuture { return n.config.hooks.Apply(n.raft, entry) }
	}
	n.live = liveness{
		dir: n.config.Dir, log: n.log, core: n.core, leader: n.leader, statuses: n.statuses, now: n.config.Now,
		countOwn: n.config.Elapsed != nil, stamp: n.watchdog.stamp, newID: n.newCommandID, apply: raftApply, run: start, stopped: n.stopped,
	}
	n.pipeline = pipeline{
		queue: make(chan *request, n.config.QueueSize), entries: make(chan struct{}, maxEntriesInFlight), built: make(chan struct{}),
		proposeTimeout: n.config.ProposeTimeout, queueTimeout: n.config.QueueTimeout,
		stamp: n.watchdog.stamp, live: &n.live, apply: raftApply, closing: n.closing, stopped: n.stopped,
	}
	n.barriers = nodeBarriers{
		all: barriers{
			pass: func() error { return n.passBarrier(transport.OpBarrier) }, closing: n.closing, run: start,
		},
		unauthenticated: barriers{
			pass: func() error { return n.passBarrier(transport.OpUnauthenticatedBarrier) }, closing: n.closing, run: start,
			pace: unauthenticatedPace,
		},
	}
	n.bootstrap = &staticBootstrap{config: &n.config, id: n.id, folder: n.folder, net: n.net, core: n.core, state: n}
	n.secrets = &SecretExchange{
		self: id, state: n, networked: networked, peers: n.net.peers, list: list, voters: n.Voters, isMember: n.isMember,
		timeout: n.config.ProposeTimeout, receive: n.config.ReceiveSecret, byName: n.config.SecretByName,
	}

	network.Serve = n.servePeers
	network.LogHandshake = n.checks.rollback.Shake
	network.NotServed = func(protocol string) bool { return protocol != transport.ProtocolPeer && n.bootstrap.waiting() }
	n.net.raft.OnAck = func(id string, index, term, committed uint64) {
		n.checks.rollback.RecordAck(id, integrity.Position{Index: index, Term: term}, committed)
	}
}

// completeChecks sets what the checks that Open made need of the folder and the network.
func (n *Node) completeChecks() {
	isolate := func(reason uint32) func() { return func() { n.net.network.Isolate(reason, true) } }
	r := n.checks.removed
	r.Dir = n.config.Dir
	r.Node = string(n.id)
	r.Now = n.config.Now
	r.Isolate = isolate(transport.IsolationRemoved)
	r.Log = n.log
	d := n.checks.duplicates
	d.NameOf = n.nameOf
	d.Isolate = isolate(transport.IsolationDuplicate)
	d.Log = n.log
}

// readyToLead makes this node, which was elected and has applied everything that was
// committed before, ready to lead: its clock agrees with a majority, and a majority has
// reported until when commands could be decided before.
func (n *Node) readyToLead() (ready, clockAgrees bool) {
	n.watchdog.start.loaded.Store(true)
	n.watchdog.checkStartClock()
	if !n.watchdog.clockAgrees() {
		return false, false
	}
	return n.live.collect(), true
}

// handshakeVoters has the log handshake ask the other voters.
func (n *Node) handshakeVoters() {
	if n.config.hooks.LogHandshake != nil {
		n.config.hooks.LogHandshake()
	}
	n.checks.rollback.AskVoters(slices.DeleteFunc(n.Voters(), func(id string) bool { return id == string(n.id) }),
		func(id string) (net.Conn, error) {
			return n.net.network.Connect(id, transport.ProtocolRaft, transport.DialTimeout)
		})
}

// servePeers serves a connection that is not raft's.
func (n *Node) servePeers(protocol, peer string, key []byte, c *tls.Conn) {
	if protocol == transport.ProtocolJoin {
		n.serveJoin(c, key)
		return
	}
	n.net.peers.Serve(c, peer)
}

func (n *Node) raftConfig(log hclog.Logger) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = n.id
	c.CommitTimeout = n.config.CommitTimeout
	c.SnapshotInterval = n.config.SnapshotInterval
	c.SnapshotThreshold = n.config.SnapshotThreshold
	c.TrailingLogs = n.config.TrailingLogs
	c.ShutdownOnRemove = false
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = transport.ElectionTimeout, transport.ElectionTimeout, transport.LeaseTimeout
	c.NotifyCh = n.leader.NotifyCh()
	c.Logger = log
	c.NoLegacyTelemetry = true
	if n.config.hooks.Raft != nil {
		n.config.hooks.Raft(c)
	}
	return c
}

// awaitLeadership returns when a sole voter leads. It elects itself at once.
func (n *Node) awaitLeadership(ctx context.Context) error {
	if !n.leader.SoleVoter() {
		return nil
	}
	n.leader.Campaign()
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

// completeBootstrap completes the state of a sole voter: it writes the first members, and
// raises the feature level to that of the program.
func (n *Node) completeBootstrap(ctx context.Context) error {
	if err := n.bootstrap.writeMembers(ctx); err != nil {
		return err
	}
	return n.reconcileLevel(ctx, member.All(n.View()))
}
