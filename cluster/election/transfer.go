package election

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// Transfer transfers the leadership of this node to a voter, or with "" to the best of
// those it knows of, or to the one that raft chooses. It tries again, since raft may
// find only then that a connection it had kept is broken: the other node may have been
// restarted. The error is ErrNotLeading if this node does not lead.
func (e *Elector) Transfer(ctx context.Context, to string) (err error) {
	if to == string(e.ID) {
		return nil
	}
	tries := []string{to, to}
	if to == "" {
		tries = e.transferCandidates()
	}
	for _, to := range tries {
		err = e.transferOnce(ctx, to)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, raft.ErrNotLeader):
			return ErrNotLeading
		case ctx.Err() != nil:
			return fmt.Errorf("transfer leadership: %w", err)
		}
	}
	return fmt.Errorf("transfer leadership: %w", err)
}

// transferOnce tries once. raft reports that another transfer is in progress for a
// moment after that one has failed, too.
func (e *Elector) transferOnce(ctx context.Context, to string) error {
	for {
		err := e.raftTransfer(ctx, to)
		if !errors.Is(err, raft.ErrLeadershipTransferInProgress) {
			return err
		}
		select {
		case <-time.After(retryInterval):
		case <-ctx.Done():
			return err
		}
	}
}

func (e *Elector) raftTransfer(ctx context.Context, to string) error {
	var f raft.Future
	if to == "" {
		f = e.raft.LeadershipTransfer()
	} else {
		f = e.raft.LeadershipTransferToServer(raft.ServerID(to), raft.ServerAddress(to))
	}
	done := make(chan error, 1)
	go func() { done <- transport.Await(f, e.Stopped) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
