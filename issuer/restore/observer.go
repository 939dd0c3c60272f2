package restore

import (
	"log/slog"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// An Observer writes what commands revoke to a node's journal, so that a restore of an
// older backup doesn't undo it. It is the machine.Observer of every node.
type Observer struct {
	Journal *journal.Journal
	Log     *slog.Logger
}

// Applied implements machine.Observer.
func (o *Observer) Applied(txn *memdb.Txn, cmd command.Command, d command.Decision, m command.Meta) {
	if _, ok := d.Outcome.(ledger.Outcome); !ok || len(d.Changes) == 0 { // a command of the cluster itself, or a refusal
		o.Journal.Covered(m.Seq, m.At)
		return
	}
	record := ledger.JournalRecord(ledger.At(txn), cmd, d, m)
	if record == nil {
		o.Journal.Covered(m.Seq, m.At)
		return
	}
	data, err := machine.Marshal(record)
	if err != nil {
		// The command is not covered, so a restore reports the gap.
		o.Log.Error("command not recorded in the journal", "seq", m.Seq, "error", err)
		o.Journal.Skipped(m.Seq, m.Seq, m.At)
		return
	}
	o.Journal.Append(m.Seq, m.At, data)
}

// Restored implements machine.Observer.
func (o *Observer) Restored(seq uint64, at int64) { o.Journal.Skipped(0, seq, at) }

// Flush implements machine.Observer. It returns no error: a journal that can't be written
// must not prevent compaction of the log, which would fill the disk. The journal then has
// a gap, which a restore reports.
func (o *Observer) Flush() error {
	if err := o.Journal.Flush(); err != nil {
		o.Log.Error("journal write failed", "error", err)
	}
	return nil
}

// readRecords decodes the records of a journal after a Seq.
func readRecords(h *journal.History, after uint64) ([]ledger.Record, error) {
	var all []ledger.Record
	for r := range h.Records(after) {
		var record ledger.Record
		if err := machine.Unmarshal(r.Data, &record); err != nil {
			return nil, err
		}
		all = append(all, record)
	}
	return all, nil
}
