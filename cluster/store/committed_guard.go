package store

import (
	"fmt"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

// committedGuard is a log that refuses to truncate committed entries.
//
// raft truncates the end of a follower's log if the leader has other entries. It never
// does that to a committed entry, unless another node has lost its disk or was started
// with an older copy of its folder: then the leader's log lacks entries that the cluster
// had acknowledged. The state of this node already has them, and would silently differ
// from then on.
type committedGuard struct {
	*checksumStore
	commitIndex func() uint64 // index of the last entry known to be committed
}

// ErrCommittedTruncated reports that a leader would have this node truncate committed
// entries.
var ErrCommittedTruncated = errcode.New("committed_truncated", "the leader's log lacks entries that the cluster had acknowledged, and the node that reports this has them: "+
	"another node was started with an older copy of its data, or lost data. The node that reports this changed nothing and stops")

// DeleteRange implements raft.LogStore. Deleting the beginning of the log is compaction,
// and deleting all of it follows the installation of a snapshot.
func (g *committedGuard) DeleteRange(from, to uint64) error {
	first, err := g.FirstIndex()
	if err != nil {
		return err
	}
	last, err := g.LastIndex()
	if err != nil {
		return err
	}
	if from > first && to == last && from <= g.commitIndex() {
		err := fmt.Errorf("entry %d of the log: %w", from, ErrCommittedTruncated)
		g.fatal(err)
		return err
	}
	return g.checksumStore.DeleteRange(from, to)
}

var _ raft.LogStore = (*committedGuard)(nil)
