package recovery

import (
	"errors"
	"fmt"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

var errNothingToRecover = errors.New("recover: there is no data in the directory")

// Recover makes the folder of the only node that is left a cluster of one, with
// all that its log has. It is for the loss of a majority for good: what was
// acknowledged by the other nodes alone is lost with them, and none of them may
// start again with its old folder. No process may use the folder. The next start
// has more to do, see Pending: it gets attached as Recovery.Attached.
func Recover(o Options, attached []byte) error {
	if err := integrity.CheckRemoved(o.Dir); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	f, err := open(o)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	return errors.Join(f.recover(attached), f.folder.Close())
}

func (f *offline) recover(attached []byte) error {
	fresh, err := f.folder.IsFresh()
	switch {
	case err != nil:
		return fmt.Errorf("recover: %w", err)
	case fresh:
		return errNothingToRecover
	}
	if f.id, err = f.folder.Identity(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if _, listed := f.folder.PeerList.Member(string(f.id)); !listed && !f.folder.PeerList.Empty() {
		return fmt.Errorf("recover: %w", member.ErrRemoved)
	}
	err = f.replay(func(_ *memdb.Txn, shared uint64) error { return begin(f.Dir, f.Rand, shared, attached) })
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	// Data that this node may have lost can harm no other node any more.
	if err := errors.Join(integrity.WriteCommitMarker(f.Dir, integrity.Position{}), f.folder.WriteInstanceIDFile()); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := f.removeOtherPeers(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := complete(f.Dir); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	return nil
}

// removeOtherPeers makes the peer list that of the state.
func (f *offline) removeOtherPeers() error {
	list := f.folder.PeerList.Get()
	if len(list.Members) == 0 {
		return nil // it had no network
	}
	var kept []member.Member
	for _, m := range list.Members {
		if m.ID == string(f.id) {
			kept = append(kept, m)
		}
	}
	list.Members, list.Seq = kept, min(list.Seq, max(machine.ReadStatus(f.core.View()).Seq, 1))
	return f.folder.PeerList.Replace(list)
}

// Salvage returns a backup of the folder o.Dir, with its whole log applied, and
// calls o.ApplyObserver for each command. No process may use the folder, and its data
// does not change. It is the only way to read the folder of a node that was removed
// or given up. The backup lacks what only other nodes had.
func Salvage(o Options) (*machine.Backup, error) {
	f, err := open(o)
	if err != nil {
		return nil, fmt.Errorf("read the folder: %w", err)
	}
	b, err := f.salvage()
	if err != nil {
		err = fmt.Errorf("read the folder: %w", err)
	}
	return b, errors.Join(err, f.folder.Close())
}

func (f *offline) salvage() (b *machine.Backup, err error) {
	var last raft.Log
	if index, err := f.folder.Store.Logs.LastIndex(); err != nil {
		return nil, err
	} else if index > 0 {
		if err := f.folder.Store.Logs.GetLog(index, &last); err != nil {
			return nil, err
		}
	}
	err = f.replay(func(_ *memdb.Txn, shared uint64) error {
		if b, err = f.core.Backup(nil); err == nil {
			b.SharedSeq, b.Term = shared, last.Term
			err = errStopReplay
		}
		return err
	})
	if !errors.Is(err, errStopReplay) {
		return nil, err
	}
	return b, nil
}
