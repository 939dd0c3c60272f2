package testkit

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
)

// A Node is a member of a cluster. Its processes follow one another, with the same name,
// folder and addresses. CLI is the command line of its operator.
type Node struct {
	*CLI
	Name              string
	Log               string   // file with the standard error of all its processes
	Public, Ops, Raft string   // addresses: host:port
	Flags             []string // of "serve", beside those that every node has

	mu      sync.Mutex
	process *Process // the last one; guarded by mu
}

// NewNode makes a node without starting it. Its process is killed at the end of the test.
// If the test has failed, the end of the node's log is shown.
func NewNode(t testing.TB, dir, name string, operator Executor) *Node {
	n := &Node{
		CLI: &CLI{T: t, Dir: filepath.Join(dir, name), Execute: operator}, Name: name, Log: filepath.Join(dir, name+".log"),
		Public: clustertest.Address(t), Ops: clustertest.Address(t), Raft: clustertest.Address(t),
	}
	t.Cleanup(func() {
		n.Release()
		if t.Failed() {
			PrintTail(t, n.Name, n.Log)
		}
	})
	return n
}

// ServeArgs returns the command line of the node's process.
func (n *Node) ServeArgs(more ...string) []string {
	return slices.Concat([]string{
		"serve", "--name", n.Name, "--data-dir", n.Dir, "--listen", n.Public, "--ops-listen", n.Ops, "--cluster-listen", n.Raft,
	}, n.Flags, more)
}

// Launch starts a process of the node and returns at once.
func (n *Node) Launch(c *exec.Cmd) error {
	p, err := Start(c, n.Log)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		n.process = p
	}
	return err
}

// Process returns the last process of the node; nil if it was never started.
func (n *Node) Process() *Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process
}

// Running reports whether the node's process runs.
func (n *Node) Running() bool { p := n.Process(); return p != nil && p.Running() }

// Kill kills the node's process, as a crash would.
func (n *Node) Kill() { n.Process().Kill() }

// Release kills the node's process, even if it is paused.
func (n *Node) Release() {
	if n.Running() {
		_ = n.Process().Signal(syscall.SIGCONT)
		n.Process().Kill()
	}
}

// Stop stops the node's process as a service manager does. The exit code must be 0.
func (n *Node) Stop() {
	n.T.Helper()
	require.NoError(n.T, n.Process().Stop(syscall.SIGTERM, time.Minute), n.Name)
}

// URL returns the address of the node for clients.
func (n *Node) URL() string { return "http://" + n.Public }

// OpsURL returns the address of the node for operators.
func (n *Node) OpsURL() string { return "http://" + n.Ops }

// Alive reports whether the node answers /livez with 200.
func (n *Node) Alive() bool { return n.asks("/livez") }

// Ready reports whether the node answers /readyz with 200.
func (n *Node) Ready() bool { return n.asks("/readyz") }

// WaitReady waits until the node is ready, and reports whether that was within the limit.
func (n *Node) WaitReady(limit time.Duration) bool { return Until(limit, n.Ready) }

// Probe is the HTTP client for operators' listeners. It uses a new connection for each
// request.
var Probe = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func (n *Node) asks(path string) bool {
	if !n.Running() {
		return false
	}
	r, err := Probe.Get(n.OpsURL() + path)
	if err != nil {
		return false
	}
	defer r.Body.Close()
	_, _ = io.Copy(io.Discard, r.Body)
	return r.StatusCode == http.StatusOK
}

// A Status is what a node reports about its cluster.
type Status struct {
	Name, Leader string
	Healthy      bool
	Problems     []string
	Term         uint64
	Level        uint32
	Nodes        []Member
}

// A Member is one node of a [Status].
type Member struct {
	ID, Address, Name, Role, State, Error, Version string
	Level                                          uint32
	Term, Applied, Last, Lag                       uint64
	ClockOffset                                    int64 `json:"clock_offset_ms"`
}

// Status returns the status that the node reports. The command prints it even if the
// cluster is not healthy, although it then fails.
func (n *Node) Status() (s Status, err error) { return s, n.show(&s, "cluster", "status") }

// A Checksum is the checksum of a node's state at an applied index.
type Checksum struct {
	Applied  uint64
	Checksum string
}

// Checksum asks the node for the checksum of its state.
func (n *Node) Checksum() (s Checksum, err error) { return s, n.show(&s, "cluster", "checksum") }

func (n *Node) show(into any, args ...string) error {
	r := n.Run("", append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(r.Out), into); err != nil {
		return fmt.Errorf("%v on %s: exit code %d: %s", args, n.Name, r.Code, r.Err)
	}
	return nil
}
