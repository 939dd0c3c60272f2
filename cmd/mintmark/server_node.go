package main

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
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/issuer/restore"
)

// clusterConfig is what a node needs to have peers.
type clusterConfig struct {
	Name      string // of this node
	Named     bool   // the name was given, and must be that of the member
	Listen    string // of the port for other nodes
	Advertise string // where others reach it; "": where it listens
	Peers     map[string]string
	Join      string // address of a node to join by, at the first start
	TokenFile string
}

// openNode starts the node. An empty folder joins a cluster, or waits until an
// operator makes it one.
func (s *server) openNode(ctx context.Context) error {
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
		advertise = s.clusterListener.Addr().String()
	}
	conf := s.nodeConfig(dir)
	conf.Name, conf.ExplicitName = c.Cluster.Name, c.Cluster.Named
	conf.Network = &cluster.Network{Listener: s.clusterListener, Advertise: advertise, Peers: c.Cluster.Peers}
	conf.Secrets = sealer{s}
	conf.JoinSecret = func() ([]byte, error) { return s.keys.Text(), nil }
	conf.ReceiveSecret, conf.SecretByName = s.receiveKey, s.clusterKeyText
	conf.OnBootstrapWait = s.waitForInitialCluster

	member, err := cluster.IsMember(dir)
	if err != nil {
		return fmt.Errorf("look at the data in %s: %w", c.DataDir, err)
	}
	if !member { // before it waits: nobody looks at it then
		if err := cluster.CheckFreeSpace(c.DataDir); err != nil {
			return err
		}
	}
	switch {
	case member:
	case c.Cluster.Join != "":
		if err := s.join(ctx, dir, advertise); err != nil {
			return err
		}
	default:
		return s.openOnRequest(ctx, conf)
	}
	if s.keys, err = c.Key.Open(); err != nil {
		return missingKey(err, c.Key)
	}
	return s.openWith(ctx, conf)
}

func (s *server) nodeConfig(dir string) cluster.Config {
	return cluster.Config{
		Dir: dir, Machine: replica.Machine(), Version: version, Logger: s.config.Log,
		Now: s.config.Now, Elapsed: s.config.Elapsed, TrustClock: s.config.TrustClock,
		Rand: rand.Reader, Fatal: s.fatal,
	}
}

// fatal ends the process. Where starting again is the cure it starts again, in
// its own place, so that nothing depends on who watches over it.
func (s *server) fatal(err error) {
	if errors.Is(err, cluster.ErrLivelock) {
		s.config.Log.Error("this node starts again", "error", err)
		if self, found := os.Executable(); found == nil {
			_ = syscall.Exec(self, os.Args, os.Environ()) // returns only when it failed
		}
	}
	s.config.Log.Error("the log failed; this node stops", "error", err)
	os.Exit(exitLocal)
}

func (s *server) openWith(ctx context.Context, conf cluster.Config) (err error) {
	if err := checkUnused(conf.Dir); err != nil {
		return fmt.Errorf("open the data in %s: %w", s.config.DataDir, err)
	}
	if s.journal, err = restore.OpenJournal(s.config.DataDir, s.config.Log); err != nil {
		return err
	}
	conf.ApplyObserver = s.journal
	if s.node, err = cluster.Open(ctx, conf); err != nil {
		return fmt.Errorf("open the data in %s: %w", s.config.DataDir, err)
	}
	if err := s.awaitClock(ctx); err != nil {
		return err
	}
	if err := s.restoreTarget(s.keys).BeginRecovered(ctx, conf.Dir, s.journal.Journal, s.nodeName()); err != nil {
		return fmt.Errorf("begin another timeline of the cluster: %w", err)
	}
	s.labelTasks.Go(func() { restore.KeepLabel(s.stopping, s.node, s.journal, s.nodeName()) })
	return nil
}

// checkUnused finds another process that uses the data before its journal is opened,
// which cuts off what looks like the half of a write.
func checkUnused(dir string) error {
	unlock, err := cluster.Lock(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return unlock()
}

// openStandalone makes an empty folder a cluster of one without being asked.
func (s *server) openStandalone(ctx context.Context, dir string) error {
	var err error
	if _, missing := os.Stat(dir); errors.Is(missing, fs.ErrNotExist) {
		if err := restore.RefuseExistingJournal(s.config.DataDir); err != nil {
			return err
		}
		if err := cluster.CheckFreeSpace(s.config.DataDir); err != nil {
			return err
		}
		if err := s.markDev(); err != nil {
			return err
		}
		s.keys, err = s.config.Key.Create(s.config.Log)
	} else if err = s.requireDevMark(); err != nil {
		return err
	} else if s.keys, err = s.config.Key.Open(); err != nil {
		err = missingKey(err, s.config.Key)
	}
	if err != nil {
		return err
	}
	conf := s.nodeConfig(dir)
	conf.Bootstrap = true
	return s.openWith(ctx, conf)
}

func missingKey(err error, k config.KeySource) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing, and the data beside it is sealed under it: put the key back", k.File)
	}
	return err
}

// sealer gives the cluster what it needs of the cluster keys.
type sealer struct{ s *server }

func (x sealer) Seal(context string, plain []byte) ([]byte, error) {
	return x.s.keys.Seal(rand.Reader, context, plain)
}

func (x sealer) Open(context string, sealed []byte) ([]byte, error) {
	return x.s.keys.Open(context, sealed)
}
