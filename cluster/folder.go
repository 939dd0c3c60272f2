package cluster

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// openFiles opens what lies in the folder, without raft.
func (n *Node) openFiles() error {
	m, err := member.Extend(n.config.Machine)
	if err != nil {
		return err
	}
	if n.core, err = machine.New(m, n.config.ApplyObserver); err != nil {
		return err
	}
	if err := store.PrivateDir(n.config.Dir); err != nil {
		return fmt.Errorf("create data directory: %w", err)
	}
	n.folder, err = integrity.Open(integrity.Options{Rand: n.config.Rand, Log: n.log, Store: store.Options{
		Dir: n.config.Dir, SegmentSize: n.config.SegmentSize, Log: store.NewLogger(n.log),
		Fatal: n.config.Fatal, Report: n.handleVerification,
		WrapLogs: n.config.hooks.Logs, WrapStable: n.config.hooks.Stable,
	}})
	return err
}
