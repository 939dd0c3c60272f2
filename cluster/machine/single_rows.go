package machine

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// singleRows decides which state a command of a single row is decided on: see
// command.SingleRow. It is of one transaction.
type singleRows struct {
	before *memdb.Txn            // the state before the transaction
	table  string                // of the rows that were written, "" before the first
	rows   map[[16]byte]struct{} // that were written; each may hold another command's decision
	mixed  bool                  // something else was written
	now    struct {              // the command under way
		table string
		id    [16]byte
		ok    bool
	}
}

func (s *singleRows) begin(before *memdb.Txn) {
	if len(s.rows) > MaxCommands || s.rows == nil {
		s.rows = make(map[[16]byte]struct{}) // to clear a large map takes long, however few rows follow
	}
	clear(s.rows)
	s.before, s.table, s.mixed = before, "", false
}

// end forgets the state, which may be large.
func (s *singleRows) end() { s.before = nil }

// view returns what a command is decided on: the state before the transaction, if the
// command can't tell it from that of txn.
func (s *singleRows) view(cmd command.Command, txn *memdb.Txn) *memdb.Txn {
	single, ok := cmd.(command.SingleRow)
	if !ok {
		s.now.ok = false
		return txn
	}
	s.now.table, s.now.id, s.now.ok = single.SingleRow()
	if _, written := s.rows[s.now.id]; s.mixed || !s.now.ok || written || s.table != "" && s.table != s.now.table {
		return txn
	}
	return s.before
}

// wrote records the changes of the command under way.
func (s *singleRows) wrote(changes []command.Change) {
	for i := range changes {
		if !s.now.ok || changes[i].Table != s.now.table || s.table != "" && s.table != s.now.table {
			s.mixed = true
			return
		}
	}
	if len(changes) > 0 {
		s.table = s.now.table
		s.rows[s.now.id] = struct{}{}
	}
}
