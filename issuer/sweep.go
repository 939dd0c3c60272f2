package issuer

import (
	"context"
	"fmt"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// maxSweepScan is how many rows of a table one run of the sweeper reads, so that a large
// table is walked in many short runs, and how many events it removes after one walk over the
// counts of actors.
const maxSweepScan = 20_000

// A sweeper walks the tables of grants, sessions, logos, clients and publishers on the leader's
// own state, and proposes to remove rows that have no effect any more.
type sweeper struct {
	grant    ledger.GrantID // where the next run continues
	session  [32]byte
	logo     [32]byte
	document string
	shares   ledger.Shares // the events of each actor in the audit trail
}

func (s *sweeper) run(ctx context.Context, i *Issuer) error {
	v, at := i.View(), i.Now()
	var grants []ledger.GrantID
	grants, s.grant = v.SweepableGrants(s.grant, maxSweepScan, at)
	var sessions [][32]byte
	sessions, s.session = v.SweepableSessions(s.session, maxSweepScan, at)
	var logos [][32]byte
	logos, s.logo = v.UnusedLogos(s.logo, maxSweepScan)
	var documents []string
	documents, s.document = v.SweepableDocuments(s.document, maxSweepScan, at)
	publishers := v.SweepablePublishers(ledger.MaxSweep, at)
	for len(grants) > 0 || len(sessions) > 0 || len(logos) > 0 || len(publishers) > 0 || len(documents) > 0 {
		var c ledger.Sweep
		c.Publishers, publishers = chunk(publishers)
		c.Documents, documents = chunk(documents)
		c.Grants, grants = chunk(grants)
		c.Sessions, sessions = chunk(sessions)
		c.Logos, logos = chunk(logos)
		outcome, _, err := i.Propose(ctx, &c)
		if err != nil {
			return fmt.Errorf("propose: %w", err)
		}
		if outcome.Count == 0 {
			break // another leader removed them, or this node's clock is ahead
		}
	}
	return s.sweepEvents(ctx, i)
}

// sweepEvents removes the events beyond ledger.MaxEvents. To find them takes a walk over the
// counts of all actors, so one walk serves many commands.
func (s *sweeper) sweepEvents(ctx context.Context, i *Issuer) error {
	for {
		v := i.View()
		s.shares.Update(v)
		surplus := s.shares.Surplus(v, i.keepEventsSince(i.Now()), maxSweepScan)
		if len(surplus) == 0 {
			return nil
		}
		for events := range slices.Chunk(surplus, ledger.MaxSweepEvents) {
			_, index, err := i.Propose(ctx, &ledger.Sweep{Events: events})
			if err == nil {
				_, err = i.ViewAt(ctx, index)
			}
			if err != nil {
				s.shares = ledger.Shares{} // count again, since the events may have been removed
				return fmt.Errorf("propose: %w", err)
			}
		}
		s.shares.Drop(surplus)
	}
}

func chunk[T any](list []T) (head, tail []T) {
	n := min(len(list), ledger.MaxSweep)
	return list[:n], list[n:]
}
