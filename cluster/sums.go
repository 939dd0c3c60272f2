package cluster

import (
	"fmt"

	wal "github.com/hashicorp/raft-wal"
)

// Every entry of a log has its sum on disk, and everything in the stable store,
// since there are versions that write them. Versions before those may have written
// the rest, and what they can't read would keep them from the folder. So nothing is
// demanded, and what lies in the stable store stays as it was, until no such
// version can open the folder any more: when the cluster has reached the feature
// level of this one. What other nodes run is no matter otherwise: a log is this
// node's own.

// keySummed lies with the votes then, and holds the index of the first entry that
// must have a sum.
const keySummed = "Summed"

// sumsFrom returns that index, 0 where nothing is demanded yet. It is written each
// time, so that bbolt looks at all that lies beside it, see rotatedMeta.Load.
func (m *rotatedMeta) sumsFrom(w *wal.WAL, demanded func(last uint64) bool) (uint64, error) {
	from, err := w.GetUint64([]byte(keySummed))
	if err != nil {
		return 0, fmt.Errorf("%s, in %s: %w", keySummed, metaFile, err)
	}
	if from == 0 {
		last, err := w.LastIndex()
		if err != nil || !demanded(last) {
			return 0, err
		}
		from = last + 1
		m.sums = true
		if err := sumUp(w); err != nil {
			return 0, err
		}
	}
	m.sums = true
	return from, w.SetUint64([]byte(keySummed), from)
}

// sumUp writes again what has no sum yet.
func sumUp(w *wal.WAL) error {
	for _, key := range []string{keyBirth, keyNodeID, keyNoted, keyTerm, keyVote} {
		value, err := w.Get([]byte(key))
		if err == nil && len(value) > 0 {
			err = w.Set([]byte(key), value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// demandsSums says whether no version that writes none can open this folder from
// now on.
func (n *Node) demandsSums(last uint64) bool {
	list := n.roster.get()
	switch {
	case n.core == nil: // it is only looked at
		return false
	case len(list.Members) == 0: // a cluster begins here, at this version's level
		return last == 0 && n.config.Bootstrap
	}
	return list.Level >= n.core.schema.level
}
