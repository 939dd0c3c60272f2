package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

// The keys of raft's term and vote, and the key of the record.
const (
	KeyTerm          = "CurrentTerm"
	keyVoteTerm      = "LastVoteTerm"
	keyVoteCandidate = "LastVoteCand"
	keyVote          = "Vote"
)

// voteStore is a StableStore that writes a vote, term and candidate, as one record.
//
// raft writes the term and then the candidate. A crash between the two leaves a vote in
// the new term for the candidate of an older one, so that a node may vote twice in one
// term: hashicorp/raft #661, open. voteStore keeps the term in memory until raft writes
// the candidate, which it does right after the term.
type voteStore struct {
	raft.StableStore
	mu   sync.Mutex
	term uint64 // written by raft, without its candidate yet; 0 if none
}

// Set implements raft.StableStore.
func (v *voteStore) Set(key, val []byte) error {
	if string(key) != keyVoteCandidate {
		return v.StableStore.Set(key, val)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	term := v.term
	v.term = 0
	if term == 0 {
		return errors.New("store vote: candidate without a term")
	}
	record := binary.BigEndian.AppendUint64(nil, term)
	return v.StableStore.Set([]byte(keyVote), append(record, val...))
}

// SetUint64 implements raft.StableStore.
func (v *voteStore) SetUint64(key []byte, val uint64) error {
	if string(key) != keyVoteTerm {
		return v.StableStore.SetUint64(key, val)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.term = val
	return nil
}

// Get implements raft.StableStore.
func (v *voteStore) Get(key []byte) ([]byte, error) {
	if string(key) != keyVoteCandidate {
		return v.StableStore.Get(key)
	}
	_, candidate, err := v.read()
	return candidate, err
}

// GetUint64 implements raft.StableStore.
func (v *voteStore) GetUint64(key []byte) (uint64, error) {
	if string(key) != keyVoteTerm {
		return v.StableStore.GetUint64(key)
	}
	term, _, err := v.read()
	return term, err
}

// read returns the vote on disk, or zero values if there is none.
func (v *voteStore) read() (term uint64, candidate []byte, err error) {
	record, err := v.StableStore.Get([]byte(keyVote))
	if err != nil || len(record) == 0 {
		return 0, nil, err
	}
	if len(record) < 8 {
		return 0, nil, fmt.Errorf("vote record of %d bytes", len(record))
	}
	return binary.BigEndian.Uint64(record), record[8:], nil
}
