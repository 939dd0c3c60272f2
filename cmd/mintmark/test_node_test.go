package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// A testNode is the server of "mintmark serve" in this process, on its own folder: a
// cluster of one, or a node that waits for a cluster.
type testNode struct {
	t    testing.TB
	dir  string // data folder
	conf server.Config
	s    *server.Server // set once await has returned

	await   func() // waits until the node serves
	abandon func() // stops a node that still waits
}

// startTestNode starts a node on a new folder. startTestNodeIn may also continue with
// existing data.
func startTestNode(t testing.TB, change ...func(*server.Config)) *testNode {
	t.Helper()
	return startTestNodeIn(t, t.TempDir(), change...)
}

func startTestNodeIn(t testing.TB, dir string, change ...func(*server.Config)) *testNode {
	t.Helper()
	o := config.Default()
	o.DataDir, o.Name = dir, "n1"
	o.Listen, o.OpsListen, o.ClusterListen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	conf, err := server.FromOptions(&o, version, o.Logger(io.Discard))
	require.NoError(t, err)
	conf.Log, conf.Drain = slog.New(slog.DiscardHandler), 0
	for _, f := range change {
		f(&conf)
	}
	c := &testNode{t: t, dir: dir, conf: conf}
	c.start()
	t.Cleanup(c.close)
	return c
}

// start returns when the node's socket accepts connections.
func (c *testNode) start() {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	type started struct {
		s   *server.Server
		err error
	}
	served := make(chan started, 1)
	go func() {
		s, err := server.Start(ctx, c.conf)
		served <- started{s, err}
	}()
	c.t.Cleanup(cancel)
	require.Eventually(c.t, func() bool {
		l, err := net.Dial("unix", filepath.Join(c.dir, admin.SocketName))
		if err == nil {
			_ = l.Close()
		}
		return err == nil
	}, 20*time.Second, 2*time.Millisecond)
	c.await = func() {
		c.t.Helper()
		select {
		case now := <-served:
			require.NoError(c.t, now.err)
			c.s, c.await = now.s, func() {}
		case <-time.After(20 * time.Second):
			require.FailNow(c.t, "the node does not serve")
		}
	}
	c.abandon = func() {
		cancel()
		<-served
	}
}

func (c *testNode) close() {
	if c.s == nil {
		c.abandon()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(c.t, c.s.Close(ctx))
	c.s = nil
	c.abandon = func() {}
}

func (c *testNode) operator() *admin.Caller {
	c.t.Helper()
	o, err := admin.NewCaller(c.dir)
	require.NoError(c.t, err)
	c.t.Cleanup(o.Close)
	return o
}

const testNodeURL = "https://api.example.com"

// newTestNode creates a cluster of one with the users alice and bob, and waits until its
// journal has the timeline.
func newTestNode(t testing.TB, change ...func(*server.Config)) *testNode {
	t.Helper()
	c := startTestNode(t, change...)
	_, err := admin.InitCluster.Call(t.Context(), c.operator(), admin.NewCluster{PublicURL: testNodeURL})
	require.NoError(t, err)
	c.await()
	for _, name := range []string{"alice", "bob"} {
		c.propose(&ledger.PutUser{ID: "u-" + name, Username: name, Password: "x"})
	}
	require.Eventually(t, func() bool {
		label, err := c.s.Journal.Journal.Label()
		return err == nil && label != nil
	}, 20*time.Second, time.Millisecond, "the journal has the timeline")
	return c
}

// newWaitingTestNode returns a node without a cluster that has the cluster key of another
// one.
func newWaitingTestNode(t testing.TB, key keys.ClusterKey) *testNode {
	t.Helper()
	c := startTestNode(t)
	require.NoError(t, key.WriteFile(filepath.Join(c.dir, "cluster.key")))
	return c
}

// decided repeats a request until the cluster has a leader. With two voters, a machine
// that stalls for 400 ms costs the leader its majority until the next election.
func (c *testNode) decided(ask func() error) {
	c.t.Helper()
	var err error
	require.Eventually(c.t, func() bool {
		err = ask()
		return err == nil || !strings.Contains(err.Error(), "nothing was changed")
	}, 20*time.Second, time.Millisecond)
	require.NoError(c.t, err)
}

func (c *testNode) propose(command command.Command) (o ledger.Outcome) {
	c.t.Helper()
	c.decided(func() (err error) {
		o, _, err = c.s.Issuer.Propose(c.t.Context(), command)
		return err
	})
	require.Nil(c.t, o.Refusal, "%T", command)
	return o
}

func (c *testNode) disable(user string) {
	c.t.Helper()
	c.propose(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-" + user, State: ledger.Disable})
}

func (c *testNode) view() ledger.View { return ledger.At(c.s.Node.View()) }

func (c *testNode) disabled(user string) bool { return c.view().User("u-" + user).Disabled }

func (c *testNode) key() keys.ClusterKey { return c.s.Keys.Current() }

func (c *testNode) backup() []byte {
	c.t.Helper()
	var b bytes.Buffer
	operator := c.operator()
	c.decided(func() error {
		b.Reset()
		return admin.SaveBackup(c.t.Context(), operator, &b)
	})
	return b.Bytes()
}

func (c *testNode) journal() []byte {
	c.t.Helper()
	var b bytes.Buffer
	require.NoError(c.t, admin.SaveJournal(c.t.Context(), c.operator(), &b))
	return b.Bytes()
}

// offlineJournal stops the node and returns the journal read from its folder.
func (c *testNode) offlineJournal() []byte {
	c.t.Helper()
	c.close()
	file, warning := readOffline(c.t, c.dir, "journal")
	require.Empty(c.t, warning)
	return file
}

func (c *testNode) restore(state []byte, o admin.RestoreOptions) (admin.RestoreReport, error) {
	c.t.Helper()
	r, err := admin.RestoreBackup(c.t.Context(), c.operator(), bytes.NewReader(state), o)
	if err == nil && !o.DryRun {
		c.await()
	}
	return r, err
}

// preview returns the report of a dry run.
func (c *testNode) preview(state []byte, journals ...[]byte) admin.RestoreReport {
	c.t.Helper()
	r, err := c.restore(state, admin.RestoreOptions{DryRun: true, Journals: journals})
	require.NoError(c.t, err)
	return r
}

// refuses returns the error of a refused restore, after which the node still waits.
func (c *testNode) refuses(state []byte, o admin.RestoreOptions) string {
	c.t.Helper()
	_, err := c.restore(state, o)
	require.Error(c.t, err)
	require.NoDirExists(c.t, filepath.Join(c.dir, "raft"))
	require.NoFileExists(c.t, filepath.Join(c.dir, "restoring"))
	return err.Error()
}

// inspect returns the header of a file.
func inspect(t testing.TB, file []byte) backup.Header {
	t.Helper()
	h, err := backup.Inspect(bytes.NewReader(file))
	require.NoError(t, err)
	return h
}

// rewrappedFile returns a copy of a file sealed under another cluster key.
func rewrappedFile(t testing.TB, file []byte, from, to keys.ClusterKey) []byte {
	t.Helper()
	h, body, err := openFile(file, from)
	require.NoError(t, err)
	h.ClusterKey = to.ID()
	var out bytes.Buffer
	require.NoError(t, backup.Write(&out, h, sealerOf(to), func(w io.Writer) error {
		_, err := io.Copy(w, body)
		return err
	}))
	return out.Bytes()
}

func openFile(file []byte, key keys.ClusterKey) (backup.Header, io.Reader, error) {
	return backup.Open(bytes.NewReader(file), func(_ backup.Header, r io.Reader, context []byte) (io.Reader, error) {
		return key.OpenStream(r, context)
	})
}

func sealerOf(key keys.ClusterKey) func(io.Writer, []byte) (io.WriteCloser, error) {
	return func(w io.Writer, context []byte) (io.WriteCloser, error) {
		return key.SealStream(rand.Reader, w, context)
	}
}

// rewritten returns a copy of a journal file with another header or other contents. write
// fills the new journal from the old one.
func rewritten(t testing.TB, file []byte, key keys.ClusterKey, write func(h *backup.Header, from *journal.History, to *journal.Journal)) []byte {
	t.Helper()
	h, body, err := openFile(file, key)
	require.NoError(t, err)
	from, err := journal.Read(body)
	require.NoError(t, err)
	to, err := journal.Open(journal.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer func() { require.NoError(t, to.Close()) }()
	write(&h, from, to)
	var out bytes.Buffer
	require.NoError(t, backup.Write(&out, h, sealerOf(key), to.Export))
	return out.Bytes()
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}
