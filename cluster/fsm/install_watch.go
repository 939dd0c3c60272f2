package fsm

// installWatchLimit is how many snapshots in a row are too many.
const installWatchLimit = 3

// installWatch detects a follower that is sent one snapshot after the other and
// makes no progress: hashicorp/raft #697. An installed snapshot leaves entries of
// an older term in the follower's log; it refuses what the leader sends next,
// is sent a snapshot again, and so on for ever, while its process seems to work.
// raft-wal, which drops its log after an installation, makes that unlikely, and
// a drop that fails only logs. A restart of raft heals it.
//
// It is used by the goroutine that applies the log.
type installWatch struct {
	count int    // installations without progress
	first uint64 // index of the first of them
}

// installed is called after a snapshot was installed whose last entry has the
// given index. It reports whether raft should be restarted, and then counts from
// zero. What is restored when raft starts is no installation.
func (w *installWatch) installed(index uint64) (stuck bool) {
	if w.count == 0 {
		w.first = index
	}
	w.count++
	if w.count < installWatchLimit {
		return false
	}
	w.count = 0
	return true
}

// applied is called after entries up to index were applied from the log. That
// is progress if the first snapshot did not have them.
func (w *installWatch) applied(index uint64) {
	if index > w.first {
		w.count = 0
	}
}
