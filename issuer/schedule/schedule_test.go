package schedule_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/issuer/schedule"
	"github.com/mintmark-auth/mintmark/keys"
)

const (
	every = time.Hour
	lease = 10 * time.Minute // ledger.BackupLease(every)
)

// A cluster3 is three nodes with one ledger, in the time of a synctest bubble.
type cluster3 struct {
	t      *testing.T
	memory *machine.Memory
	nodes  []*node

	mu       sync.Mutex // guards the following
	ahead    time.Duration
	changed  chan struct{}
	commands int
	serial   int
}

// A node is a node of the cluster with its backup task.
type node struct {
	c    *cluster3
	name string
	dir  string
	key  keys.ClusterKey
	log  strings.Builder
	stop func()

	mu     sync.Mutex    // guards the following
	cut    bool          // the node reaches no leader
	lost   bool          // the outcome of the next result is unknown, although it is decided
	fail   error         // returned by writing
	hang   chan struct{} // writing blocks until it is closed
	damage bool          // written backups can't be read back
	shared bool          // the folder is on the same disk as the data
	free   uint64
	begun  []time.Time
	failed []ledger.BackupFailure
}

func newCluster3(t *testing.T) *cluster3 {
	c := &cluster3{t: t, changed: make(chan struct{})}
	c.memory = machine.NewMemory(replica.Machine(), func() time.Time { return time.Now().Add(c.ahead) })
	key, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	for _, name := range []string{"n1", "n2", "n3"} {
		n := &node{c: c, name: name, dir: filepath.Join(t.TempDir(), name), key: key, free: 1 << 40}
		c.nodes = append(c.nodes, n)
		c.do(&ledger.AcknowledgeKeys{Node: "id-" + name})
		n.start()
	}
	t.Cleanup(func() {
		for _, n := range c.nodes {
			n.kill()
		}
	})
	return c
}

func (c *cluster3) do(cmd command.Command) ledger.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial++
	value, wrote := c.memory.Do(cmd, command.ID{byte(c.serial), byte(c.serial >> 8), byte(c.serial >> 16), 1}, false)
	if wrote {
		c.commands++
		close(c.changed)
		c.changed = make(chan struct{})
	}
	return value.(ledger.Outcome)
}

func (c *cluster3) wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

func (c *cluster3) schedule() *ledger.BackupSchedule {
	return ledger.At(c.memory.View()).BackupSchedule()
}

// chosen returns the node that was chosen to make the backups, or nil.
func (c *cluster3) chosen() *node {
	for _, n := range c.nodes {
		if "id-"+n.name == c.schedule().Node {
			return n
		}
	}
	return nil
}

// begun returns the number of backups begun on all nodes.
func (c *cluster3) begun() (all int) {
	for _, n := range c.nodes {
		all += n.begunHere()
	}
	return all
}

func (n *node) begunHere() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.begun)
}

func (n *node) start() {
	n.startWith(every)
}

func (n *node) startWith(every time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	task := schedule.New(schedule.Config{
		Ledger: nodeLedger{n}, Changed: n.c.wait, ID: "id-" + n.name, Folder: backup.Folder{Dir: n.dir, Node: n.name},
		Every: every, Keep: 3, Save: n.save, Verify: n.verify, Log: slog.New(slog.NewTextHandler(lockedWriter{n}, nil)),
		Space:      func(string) (uint64, uint64, error) { n.mu.Lock(); defer n.mu.Unlock(); return n.free, 100, nil },
		OnDataDisk: func(dir string) bool { n.mu.Lock(); defer n.mu.Unlock(); return n.shared && dir == n.dir },
		Failed: func(f ledger.BackupFailure) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.failed = append(n.failed, f)
		},
	})
	done := make(chan struct{})
	go func() {
		task.Run(ctx)
		close(done)
	}()
	n.stop = func() {
		cancel()
		<-done
	}
}

// kill ends the task; nothing that it does afterwards is decided.
func (n *node) kill() {
	n.set(func() {
		n.cut = true
		if n.hang != nil {
			close(n.hang)
			n.hang = nil
		}
	})
	if n.stop != nil {
		n.stop()
	}
	n.stop = nil
	n.set(func() { n.cut = false })
}

func (n *node) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

func (n *node) save(ctx context.Context, w io.Writer) error {
	n.mu.Lock()
	n.begun = append(n.begun, time.Now())
	fail, hang := n.fail, n.hang
	n.mu.Unlock()
	if hang != nil {
		<-hang
	}
	h := backup.Header{Kind: backup.KindState, Node: n.name, Taken: time.Now(), Seq: 9, ClusterKey: n.key.ID()}
	var b bytes.Buffer
	err := backup.Write(&b, h, func(w io.Writer, context []byte) (io.WriteCloser, error) {
		return n.key.SealStream(rand.Reader, w, context)
	},
		func(w io.Writer) error { _, err := w.Write(make([]byte, 1000)); return err })
	if err != nil {
		return err
	}
	if fail != nil {
		_, _ = w.Write(b.Bytes()[:500])
		return fail
	}
	_, err = w.Write(b.Bytes())
	return err
}

func (n *node) verify(r io.Reader) (backup.Header, error) {
	n.mu.Lock()
	damage := n.damage
	n.mu.Unlock()
	h, body, err := backup.Open(r, func(_ backup.Header, r io.Reader, context []byte) (io.Reader, error) {
		return n.key.OpenStream(r, context)
	})
	if err == nil {
		_, err = io.Copy(io.Discard, body)
	}
	if damage {
		err = backup.ErrDamaged
	}
	return h, err
}

// files returns the names in the folder.
func (n *node) files() (list []string) {
	entries, _ := os.ReadDir(n.dir)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

type lockedWriter struct{ n *node }

func (w lockedWriter) Write(b []byte) (int, error) {
	w.n.mu.Lock()
	defer w.n.mu.Unlock()
	return w.n.log.Write(b)
}

func (n *node) logText() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.String()
}

type nodeLedger struct{ n *node }

func (l nodeLedger) View() ledger.View { return ledger.At(l.n.c.memory.View()) }

func (l nodeLedger) ViewAt(context.Context, uint64) (ledger.View, error) { return l.View(), nil }

func (l nodeLedger) InTouch() bool {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	return !l.n.cut
}

func (l nodeLedger) Propose(_ context.Context, c command.Command) (ledger.Outcome, uint64, error) {
	l.n.mu.Lock()
	cut, lost := l.n.cut, false
	if _, result := c.(*ledger.RecordBackup); result {
		lost, l.n.lost = l.n.lost, false
	}
	l.n.mu.Unlock()
	if cut {
		return ledger.Outcome{}, 0, oauth.ErrUnavailable
	}
	out := l.n.c.do(c)
	if lost {
		return ledger.Outcome{}, 0, oauth.ErrOutcomeUnknown
	}
	return out, 0, nil
}

func run(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestOneNodeMakesTheBackups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(time.Minute)
		n := c.chosen()
		require.Equal(t, 1, n.begunHere(), "the first backup is made at once")
		run(24 * time.Hour)
		require.Same(t, n, c.chosen(), "the cluster does not keep a healthy node")
		require.Equal(t, 25, n.begunHere())
		require.Equal(t, 25, c.begun())
		for i := 1; i < len(n.begun); i++ {
			require.InDelta(t, every.Seconds(), n.begun[i].Sub(n.begun[i-1]).Seconds(), 5)
		}
		require.Len(t, n.files(), 3)
		s := c.schedule()
		require.Equal(t, n.name, s.Saved.Node)
		require.FileExists(t, s.Saved.File)
		require.EqualValues(t, 9, s.Saved.Seq)
		info, err := os.Stat(s.Saved.File)
		require.NoError(t, err)
		require.Equal(t, info.Size(), s.Saved.Bytes)
		require.Less(t, c.commands, 24*25, "renewals fill the log")
	})
}

// TestAnotherNodeTakesOver: a node that was killed, or that reaches no leader, is
// replaced after the lease. No second backup is made in the period.
func TestAnotherNodeTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(10 * time.Minute)
		first := c.chosen()
		first.kill()
		run(lease / 2)
		require.Same(t, first, c.chosen())
		run(lease + time.Minute)
		second := c.chosen()
		require.NotSame(t, first, second)
		require.Equal(t, 1, c.begun(), "a second backup was made in the period")
		run(every)
		require.Equal(t, 2, c.begun())
		require.Equal(t, second.name, c.schedule().Saved.Node)

		second.set(func() { second.cut = true })
		run(2 * lease)
		require.NotSame(t, second, c.chosen())
		second.set(func() { second.cut = false })
		first.start()
		third := c.chosen()
		run(10 * every)
		require.Same(t, third, c.chosen(), "a node that returned took the task away from a healthy node")
		require.Equal(t, 12, c.begun())
	})
}

// TestRestartKeepsTheSchedule: after a restart of the cluster the same node continues,
// with one backup if one is due.
func TestRestartKeepsTheSchedule(t *testing.T) {
	for _, down := range []time.Duration{time.Second, 5 * time.Minute, 30 * time.Minute, 5 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster3(t)
			run(10 * time.Minute)
			n := c.chosen()
			for _, n := range c.nodes {
				n.kill()
			}
			run(down)
			for _, n := range c.nodes {
				n.start()
			}
			run(5 * time.Minute)
			require.Same(t, n, c.chosen())
			want := 1
			if down > every {
				want = 2
			}
			require.Equal(t, want, c.begun(), "after %s", down)
		})
	}
}

// TestOutageKeepsTheChoice: after a long time in which no node reached a leader, the same
// node continues.
func TestOutageKeepsTheChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(time.Minute)
		n := c.chosen()
		for range 5 {
			for _, n := range c.nodes {
				n.set(func() { n.cut = true })
			}
			run(2 * every)
			for _, n := range c.nodes {
				n.set(func() { n.cut = false })
			}
			run(2 * lease)
			require.Same(t, n, c.chosen())
		}
	})
}

// TestClockThatJumps: after a jump of the cluster's time one backup is made, not one for
// each period in between. The node's own clock is not used.
func TestClockThatJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(10 * time.Minute)
		n := c.chosen()
		for _, jump := range []time.Duration{5 * time.Minute, 1000 * time.Hour} {
			before, commands := c.begun(), c.commands
			c.mu.Lock()
			c.ahead = jump
			c.mu.Unlock()
			run(5 * every)
			require.GreaterOrEqual(t, c.begun()-before, 4, "time %s", jump)
			require.LessOrEqual(t, c.begun()-before, 6, "time %s", jump)
			require.Less(t, c.commands-commands, 150, "time %s", jump)
		}
		require.Same(t, n, c.chosen())
	})
}

// TestFullDisk: a full disk is reported once for each attempt, older backups are kept,
// and another node takes over. If no node has space, they do not retry in a loop.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(3*every + time.Minute)
		n := c.chosen()
		older := n.files()
		require.Len(t, older, 3)
		n.set(func() { n.fail = &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC} })
		run(every)
		require.Equal(t, older, n.files())
		require.Contains(t, n.logText(), `msg="backup failed" reason=disk_full`)
		require.Equal(t, []ledger.BackupFailure{ledger.BackupDiskFull}, n.failed)
		require.NotSame(t, n, c.chosen())
		require.NotEqual(t, n.name, c.schedule().Saved.Node)
		require.Len(t, c.schedule().Failed, 1)

		for _, n := range c.nodes {
			n.set(func() { n.free = 99 }) // less than has to stay free
		}
		before, saved := c.begun(), *c.schedule().Saved
		run(5 * every)
		require.Equal(t, saved, *c.schedule().Saved)
		require.Equal(t, older, n.files())
		require.LessOrEqual(t, c.begun()-before, 3*31, "more than one attempt of each node in a lease")
		require.Len(t, c.schedule().Failed, 3)
		for _, n := range c.nodes {
			n.set(func() { n.free, n.fail = 1<<40, nil })
		}
		run(2 * lease)
		require.NotEqual(t, saved, *c.schedule().Saved)
	})
}

func TestBackupIsVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		for _, n := range c.nodes {
			n.set(func() { n.damage = true })
		}
		run(5 * time.Minute)
		require.Nil(t, c.schedule().Saved)
		for _, n := range c.nodes {
			require.Empty(t, n.files())
			require.Equal(t, []ledger.BackupFailure{ledger.BackupNotVerified}, n.failed)
		}
	})
}

// TestDiskThatHangs: a node whose write hangs is replaced, and its result is refused if
// it arrives later.
func TestDiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(time.Minute)
		n := c.chosen()
		hang := make(chan struct{})
		n.set(func() { n.hang = hang })
		run(every)
		require.Same(t, n, c.chosen())
		run(2 * lease)
		require.NotSame(t, n, c.chosen())
		require.NotEqual(t, n.name, c.schedule().Saved.Node)
		saved := *c.schedule().Saved
		n.set(func() { n.hang = nil })
		close(hang)
		run(time.Minute)
		require.Equal(t, saved, *c.schedule().Saved)
		require.Contains(t, n.logText(), "result of backup not recorded")
	})
}

// TestUnknownOutcomeOfAResult verifies that a result which was recorded, but whose outcome did
// not reach the node, is not reported as lost.
func TestUnknownOutcomeOfAResult(t *testing.T) {
	for name, fail := range map[string]error{"saved": nil, "failed": syscall.ENOSPC} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster3(t)
				run(time.Minute)
				n, saved := c.chosen(), *c.schedule().Saved
				n.set(func() { n.lost, n.fail = true, fail })
				run(every)
				require.False(t, n.lost)
				require.Equal(t, fail == nil, c.schedule().Saved.Node == n.name)
				require.NotEqual(t, saved, *c.schedule().Saved)
				require.NotContains(t, n.logText(), "not recorded")
			})
		})
	}
}

// TestNoLeader: while there is no leader, no backup is recorded as failed.
func TestNoLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(time.Minute)
		n := c.chosen()
		n.set(func() { n.fail = fmt.Errorf("barrier: %w", oauth.ErrUnavailable) })
		run(every)
		n.set(func() { n.fail = nil })
		run(lease + time.Minute)
		require.Same(t, n, c.chosen())
		require.Empty(t, n.failed)
		require.Equal(t, 3, c.begun())
	})
}

func TestWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(time.Minute)
		n := c.chosen()
		n.kill()
		n.startWith(0)
		run(time.Minute)
		require.NotNil(t, c.chosen(), "another node makes them at once")
		require.NotSame(t, n, c.chosen())
		for _, n := range c.nodes {
			n.kill()
			n.startWith(0)
			run(time.Minute)
		}
		require.Nil(t, c.chosen())
		require.Zero(t, c.schedule().Every)
		run(100 * every)
		require.Equal(t, 1, c.begun())
	})
}

// TestFolderThatIsLost: a node that lost its backup folder continues to serve, and
// another node makes the backups.
func TestFolderThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(time.Minute)
		n := c.chosen()
		require.NoError(t, os.RemoveAll(n.dir))
		run(every + time.Minute)
		require.Equal(t, []ledger.BackupFailure{ledger.BackupNotWritten}, n.failed)
		require.NotEqual(t, n.name, c.schedule().Saved.Node)
	})
}

// TestFolderIsProbed verifies that each node, also one that makes no backups, reports at
// its start if its folder takes no files or is on the disk of the data.
func TestFolderIsProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(time.Minute)
		chosen := c.chosen()
		for _, n := range c.nodes {
			require.NotContains(t, n.logText(), "backup folder")
		}
		for _, n := range c.nodes {
			if n == chosen {
				continue
			}
			n.kill()
			n.shared = true
			n.start()
			run(time.Second)
			require.Contains(t, n.logText(), `level=WARN msg="backup folder on the disk of the data"`)
			require.NotContains(t, n.logText(), "not usable")
			files := n.files()
			n.kill()
			n.dir = "/dev/fd" // a folder that can be read, and takes no files from anybody
			n.start()
			run(time.Second)
			require.Contains(t, n.logText(), `level=ERROR msg="backup folder not usable" dir=/dev/fd`)
			n.kill()
			require.Empty(t, files, "the probe leaves nothing")
		}
		require.Equal(t, chosen, c.chosen())
	})
}

// TestPartialIsRemoved: a node removes its partial backups at its next start.
func TestPartialIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster3(t)
		run(time.Minute)
		n := c.chosen()
		n.kill()
		files := n.files()
		require.NoError(t, os.WriteFile(filepath.Join(n.dir, ".mintmark-"+n.name+".scheduled.1.tmp"), []byte("half"), 0o600))
		n.start()
		run(time.Second)
		require.Equal(t, files, n.files())
		require.Contains(t, n.logText(), "partial backups removed")
	})
}
