package cluster

import (
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// Config is what a node needs. It is not changed after Open.
type Config struct {
	// Dir holds the log and the snapshots. It is created, with mode 0700, when
	// it does not exist, and used by one process at a time.
	Dir string
	// Machine is the state and the rules.
	Machine machine.Machine
	// Logger gets what operators should know. Default: slog.Default().
	Logger *slog.Logger
	// Now is the wall clock that stamps commands. Default: time.Now.
	Now func() time.Time
	// Elapsed is time that runs on whatever happens to the wall clock, suspended
	// time included, by which a jump of Now is found: see watchdog.Elapsed.
	// Default: Now itself, which then may be set at will.
	Elapsed func() time.Duration
	// Synchronised returns nil if something keeps the clock that Now reads right, and
	// otherwise why not. now is a reading of that clock. It is called only at a start.
	// Default: the kernel is asked about its own clock.
	Synchronised func(now time.Time) error
	// TrustClock makes the node accept its clock at a start, whatever the data folder,
	// the kernel and the other nodes report. It is set if Elapsed is not, because Now
	// may then be set at will.
	TrustClock bool
	// Rand makes command and node ids. It must be safe for concurrent use.
	// Default: crypto/rand.Reader.
	Rand io.Reader
	// Fatal is called when the log holds an entry that this program can't apply:
	// carrying on would let this node's state differ from that of the others. It
	// must not return; it may log and exit. Default: panic.
	Fatal func(error)

	// Name is what people call this node; Version is that of its program.
	Name, Version string
	// ExplicitName reports that an operator chose Name, and that it is not just the name of
	// the machine: Open refuses the folder of a member with another name.
	ExplicitName bool
	// Bootstrap makes an empty folder a cluster of this node. Without it, and
	// without Join before, opening an empty folder is ErrEmpty.
	Bootstrap bool
	// Network connects the node with others. Without it, it is alone.
	Network *transport.Endpoint
	// Secrets and JoinSecret are needed with a Network. JoinSecret is what a node
	// that joins is given beside the list of members: the cluster key.
	Secrets    member.Secrets
	JoinSecret func() ([]byte, error)
	// ReceiveSecret takes a secret from another member, see SecretExchange.Distribute. For
	// an empty secret it only reports whether it would take one. SecretByName returns a
	// secret for another member, see SecretExchange.Fetch. The texts of their errors are
	// sent to that member. Either may be nil.
	ReceiveSecret func(secret []byte) error
	SecretByName  func(name string) ([]byte, error)

	// OnBootstrapWait is called with the nodes that this one waits for before they can make
	// their cluster. It may be nil.
	OnBootstrapWait func(why string)

	// TLSExpires returns when the certificate that the node shows to clients expires, for
	// its status; zero if it has none. It may be nil.
	TLSExpires func() time.Time

	// ApplyObserver is called for each command that is applied. It may be nil.
	ApplyObserver machine.Observer

	// QueueSize is how many commands may wait to be put into the log; one more
	// is refused. Default: 2048.
	QueueSize int
	// ProposeTimeout is how long Propose tries, when its context does not end
	// earlier. Default: 5 s.
	ProposeTimeout time.Duration
	// LeaderTimeout is how long Propose waits for a leader to be known, as long as nothing
	// was proposed, and how long ViewFresh, ViewPaced and Ready wait. Default: 1 s.
	LeaderTimeout time.Duration
	// QueueTimeout is how long a command may wait to be put into the log, half
	// of it in the queue and half of it before raft; then nothing was proposed.
	// Default: 1 s.
	QueueTimeout time.Duration
	// CommitTimeout is how long the leader waits before it informs idle followers
	// of a commit. Default: 10 ms.
	CommitTimeout time.Duration
	// SnapshotInterval is how often, up to twice that, a node asks itself
	// whether a snapshot is due. Default: 30 s.
	SnapshotInterval time.Duration
	// SnapshotThreshold is how many log entries make one due. Default: 8192.
	SnapshotThreshold uint64
	// TrailingLogs is how many entries are kept after a snapshot for followers
	// that are a little behind. Default, and least: 10240.
	TrailingLogs uint64
	// CheckpointInterval is how often the leader has the log read back and
	// compared with what was written. Default: 60 s.
	CheckpointInterval time.Duration
	// SegmentSize is the size of a file of the log in bytes; one is allocated
	// ahead. Default: 16 MiB.
	SegmentSize int

	hooks hooks
}

// hooks are for the tests of this package.
type hooks struct {
	Logs                    func(raft.LogStore) raft.LogStore         // around the log on disk
	Stable                  func(raft.StableStore) raft.StableStore   // around the stable store on disk
	Apply                   func(*raft.Raft, []byte) raft.ApplyFuture // instead of raft.Apply
	FSM                     func()                                    // before each batch is applied
	CommitMarker            func()                                    // before what is committed is written down
	Report                  func(err error)                           // after each verification
	Raft                    func(*raft.Config)                        // before raft starts
	Disk                    watchdog.DiskProber                       // instead of the folder's disk
	CampaignInterval        time.Duration                             // instead of CampaignInterval
	LeaderLossTimeout       time.Duration                             // instead of leaderLossTimeout
	MembershipCheckInterval time.Duration                             // instead of membershipCheckInterval, between rounds
	LogHandshake            func()                                    // before the log handshakes with the voters at a start
	ServerRemoved           func()                                    // when a node that is removed has left raft's configuration, and not the members

	Bootstrap func(begins bool, silent []string) error // when all other initial nodes were asked
}

// Offline returns what package recovery needs of the folder of a node that does not run.
func (c Config) Offline() recovery.Options {
	c, _ = c.withDefaults() // package recovery reports a missing Dir
	return recovery.Options{
		Dir: c.Dir, Machine: c.Machine, Logger: c.Logger, Now: c.Now, Rand: c.Rand, Fatal: c.Fatal,
		ApplyObserver: c.ApplyObserver, SegmentSize: c.SegmentSize,
	}
}

const minTrailingLogs = 10240

func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		return c, errors.New("no data directory given")
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Synchronised == nil {
		c.Synchronised = watchdog.ClockSynchronised
	}
	c.TrustClock = c.TrustClock || c.Elapsed == nil
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Fatal == nil {
		c.Fatal = func(err error) { panic("cluster: the node stops: " + err.Error()) }
	}
	setDefault(&c.QueueSize, 2048)
	setDefault(&c.ProposeTimeout, 5*time.Second)
	setDefault(&c.LeaderTimeout, time.Second)
	setDefault(&c.QueueTimeout, time.Second)
	setDefault(&c.CommitTimeout, 10*time.Millisecond)
	setDefault(&c.SnapshotInterval, 30*time.Second)
	setDefault(&c.SnapshotThreshold, 8192)
	c.TrailingLogs = max(c.TrailingLogs, minTrailingLogs)
	setDefault(&c.CheckpointInterval, time.Minute)
	setDefault(&c.SegmentSize, 16<<20)
	setDefault(&c.hooks.CampaignInterval, transport.CampaignInterval)
	setDefault(&c.hooks.MembershipCheckInterval, membershipCheckInterval)
	return c, nil
}

func setDefault[T int | uint64 | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}
