package transport

import (
	"time"

	"github.com/hashicorp/raft"
)

// raft reuses connections, and notices only in use that one broke long ago, as after a
// restart of the node or a partition. It requests a vote once, so a candidate that would
// win waits for another election timeout. So a vote is requested again: at once after an
// error, and concurrently if no answer comes. This is safe, since a node gives a
// candidate the same answer twice in a term.

const (
	voteAttempts      = 4 // one for each pooled connection, and one for a new one
	voteRetryInterval = CampaignInterval / 4
)

// RequestVote implements raft.Transport.
func (t *Transport) RequestVote(id raft.ServerID, target raft.ServerAddress, q *raft.RequestVoteRequest, r *raft.RequestVoteResponse) error {
	return retryVote(r, func(r *raft.RequestVoteResponse) error { return t.NetworkTransport.RequestVote(id, target, q, r) })
}

// RequestPreVote implements raft.WithPreVote.
func (t *Transport) RequestPreVote(id raft.ServerID, target raft.ServerAddress, q *raft.RequestPreVoteRequest, r *raft.RequestPreVoteResponse) error {
	return retryVote(r, func(r *raft.RequestPreVoteResponse) error {
		return t.NetworkTransport.RequestPreVote(id, target, q, r)
	})
}

// retryVote returns the first answer, or the last error.
func retryVote[R any](answer *R, ask func(*R) error) (err error) {
	type attempt struct {
		answer R
		err    error
	}
	ended := make(chan *attempt, voteAttempts)
	for tried, under := 0, 0; tried < voteAttempts || under > 0; {
		var patience <-chan time.Time
		if tried < voteAttempts {
			tried++
			under++
			go func() {
				a := new(attempt)
				a.err = ask(&a.answer)
				ended <- a
			}()
			patience = time.After(voteRetryInterval)
		}
		select {
		case a := <-ended:
			under--
			if err = a.err; err == nil {
				*answer = a.answer
				return nil
			}
		case <-patience:
		}
	}
	return err
}
