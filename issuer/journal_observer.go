package issuer

import (
	"log/slog"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A JournalObserver keeps in a node's journal what commands took away, so that a
// restore of an older backup does not give it back. It is the cluster.ApplyObserver
// of every node.
type JournalObserver struct {
	Journal *journal.Journal
	Log     *slog.Logger
}

// Applied implements cluster.ApplyObserver.
func (r *JournalObserver) Applied(txn *memdb.Txn, cmd command.Command, d command.Decision, m command.Meta) {
	e, ok := cmd.(*Entry)
	if !ok || len(d.Changes) == 0 {
		r.Journal.Covered(m.Seq, m.At)
		return
	}
	decision := ledger.Decision{Outcome: d.Outcome.(ledger.Outcome), Changes: make([]ledger.Change, len(d.Changes))}
	for i, c := range d.Changes {
		decision.Changes[i] = ledger.Change(c)
	}
	record := ledger.JournalRecord(ledger.At(txn), e.Command, decision, ledgerMeta(m))
	if record == nil {
		r.Journal.Covered(m.Seq, m.At)
		return
	}
	data, err := encoding.Marshal(record)
	if err != nil {
		// Not covered: a restore will say that something is missing here.
		r.Log.Error("a command could not be noted in the journal", "seq", m.Seq, "error", err)
		r.Journal.Skipped(m.Seq, m.Seq, m.At)
		return
	}
	r.Journal.Append(m.Seq, m.At, data)
}

// Restored implements cluster.ApplyObserver.
func (r *JournalObserver) Restored(seq uint64, at int64) { r.Journal.Skipped(0, seq, at) }

// Flush implements cluster.ApplyObserver. A journal that can't be written must not
// keep the log from being replaced, which would fill the disk: it has a gap
// then, and says so.
func (r *JournalObserver) Flush() error {
	if err := r.Journal.Flush(); err != nil {
		r.Log.Error("the journal could not be written", "error", err)
	}
	return nil
}

// ReadRecords decodes the records of a journal that come after a position.
func ReadRecords(h *journal.History, after uint64) ([]ledger.Record, error) {
	var all []ledger.Record
	for r := range h.Records(after) {
		var record ledger.Record
		if err := decoding.Unmarshal(r.Data, &record); err != nil {
			return nil, err
		}
		all = append(all, record)
	}
	return all, nil
}
