package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/fsm"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/memory"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/issuer/restore"
)

// Cluster has the settings of a node with peers.
type Cluster struct {
	Name      string            // of this node
	Named     bool              // Name was given, and must be the name of the member
	Listen    string            // of the port for other nodes
	Advertise string            // address at which others reach the node; "": that of the listener
	Peers     map[string]string // addresses of other nodes as reached from here, by name
	Join      string            // address of a node whose cluster is joined at the first start
	TokenFile string            // file with the join token
}

// openNode starts the node. With an empty folder it joins a cluster, or waits until an
// operator makes one.
func (s *Server) openNode(ctx context.Context) error {
	c := s.config
	dir := filepath.Join(c.DataDir, "raft")
	if err := restore.RefuseInterrupted(c.DataDir); err != nil {
		return err
	}
	if c.Cluster == nil {
		return s.openStandalone(ctx, dir)
	}
	if err := s.refuseDevMark(); err != nil {
		return err
	}
	advertise := c.Cluster.Advertise
	if advertise == "" {
		advertise = s.ClusterAddr.String()
	}
	conf := s.nodeConfig(dir)
	conf.Name, conf.ExplicitName = c.Cluster.Name, c.Cluster.Named
	conf.Network = &transport.Endpoint{Listener: s.clusterListener, Advertise: advertise, Peers: c.Cluster.Peers}
	conf.Secrets = sealer{s}
	conf.JoinSecret = func() ([]byte, error) { return s.Keys.Text(), nil }
	conf.ReceiveSecret, conf.SecretByName = s.receiveKey, s.clusterKeyText
	conf.OnBootstrapWait = s.waitForInitialCluster

	member, err := integrity.IsMember(dir)
	if err != nil {
		return fmt.Errorf("inspect data in %s: %w", c.DataDir, err)
	}
	if !member { // before it waits, while nothing probes the disk
		if err := watchdog.CheckFreeSpace(c.DataDir); err != nil {
			return err
		}
	}
	switch {
	case member:
	case c.Cluster.Join != "":
		go s.reportJoin()
		if err := s.join(ctx, dir, advertise); err != nil {
			return err
		}
	default:
		return s.openOnRequest(ctx, conf)
	}
	if s.Keys, err = c.Key.OpenSealed(); err != nil {
		return err
	}
	return s.openWith(ctx, conf)
}

func (s *Server) nodeConfig(dir string) cluster.Config {
	return cluster.Config{
		Dir: dir, Machine: replica.Machine(), Version: s.config.Version, Logger: s.config.Log,
		Now: s.config.Now, Elapsed: s.config.Elapsed, TrustClock: s.config.TrustClock,
		Rand: rand.Reader, Fatal: s.fatal, TLSExpires: s.tlsExpires,
	}
}

// fatal ends the process after an error of the log. If a restart helps, the process
// replaces itself, so that no supervisor is needed.
func (s *Server) fatal(err error) {
	if errors.Is(err, fsm.ErrLivelock) {
		s.config.Log.Error("log failed, restarting the process", "error", err)
		if self, found := os.Executable(); found == nil {
			_ = syscall.Exec(self, os.Args, os.Environ()) // returns only when it failed
		}
	}
	s.config.Log.Error("log failed, node stopped", "error", err)
	os.Exit(1) // a local fault
}

func (s *Server) openWith(ctx context.Context, conf cluster.Config) (err error) {
	if err := checkUnused(conf.Dir); err != nil {
		return fmt.Errorf("open data in %s: %w", s.config.DataDir, err)
	}
	if s.Journal, err = restore.OpenJournal(s.config.DataDir, s.config.Log); err != nil {
		return err
	}
	conf.ApplyObserver = s.Journal
	loaded := memory.Load(snapshotSize(conf.Dir) * heapPerSnapshotByte)
	s.Node, err = cluster.Open(ctx, conf)
	loaded()
	if err != nil {
		return fmt.Errorf("open data in %s: %w", s.config.DataDir, err)
	}
	if err := s.awaitClock(ctx); err != nil {
		return err
	}
	if err := s.restoreTarget(s.Keys).BeginRecovered(ctx, conf.Dir, s.Journal.Journal, s.nodeName()); err != nil {
		return fmt.Errorf("begin timeline: %w", err)
	}
	s.stateTasks.Go(func() { restore.KeepLabel(s.stopping, s.Node, s.Journal, s.nodeName()) })
	return nil
}

// heapPerSnapshotByte is how much heap a state takes, beside its snapshot.
const heapPerSnapshotByte = 4

// snapshotSize returns the bytes of the largest snapshot in the data of a node.
func snapshotSize(dir string) (most int64) {
	files, _ := filepath.Glob(filepath.Join(dir, "snapshots", "*", "state.bin"))
	for _, name := range files {
		if i, err := os.Stat(name); err == nil {
			most = max(most, i.Size())
		}
	}
	return most
}

// checkUnused returns an error if another process uses the data. It must be called before
// the journal is opened, which truncates partial writes.
func checkUnused(dir string) error {
	unlock, err := integrity.Lock(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return unlock()
}

// openStandalone opens the data of a node alone; it makes an empty folder a cluster of one.
func (s *Server) openStandalone(ctx context.Context, dir string) error {
	var err error
	if _, missing := os.Stat(dir); errors.Is(missing, fs.ErrNotExist) {
		if err := restore.RefuseExistingJournal(s.config.DataDir); err != nil {
			return err
		}
		if err := watchdog.CheckFreeSpace(s.config.DataDir); err != nil {
			return err
		}
		if err := s.markDev(); err != nil {
			return err
		}
		s.Keys, err = s.config.Key.Create(s.config.Log)
	} else if err = s.requireDevMark(); err != nil {
		return err
	} else {
		s.Keys, err = s.config.Key.OpenSealed()
	}
	if err != nil {
		return err
	}
	conf := s.nodeConfig(dir)
	conf.Bootstrap = true
	return s.openWith(ctx, conf)
}

// A sealer seals and opens the cluster's secrets under the cluster key.
type sealer struct{ s *Server }

func (x sealer) Seal(context string, plain []byte) ([]byte, error) {
	return x.s.Keys.Seal(rand.Reader, context, plain)
}

func (x sealer) Open(context string, sealed []byte) ([]byte, error) {
	return x.s.Keys.Open(context, sealed)
}
