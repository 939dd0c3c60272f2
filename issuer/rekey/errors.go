package rekey

import "github.com/mintmark-auth/mintmark/cluster/errcode"

var (
	// ErrNodeUnreachable reports that a voter can't be given another cluster key.
	ErrNodeUnreachable = errcode.New("rewrap_node_unreachable", "a voter can't be reached")
	// ErrNotReplaced reports a replacement of a leaked key that was interrupted and can be
	// repeated.
	ErrNotReplaced = errcode.New("key_not_replaced", "the leaked key was not replaced completely")
	// ErrUnfinished reports a change of the cluster key that was interrupted.
	ErrUnfinished = errcode.New("rewrap_unfinished", "a change of the cluster key was begun and not finished")
	// ErrNoKey reports that the keyring has no key of an id.
	ErrNoKey = errcode.New("no_key", "there is no such key")
)
