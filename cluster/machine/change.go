package machine

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// check returns an error if changes are not valid in this schema.
func (s *schema) check(changes []command.Change) error {
	if len(changes) > command.MaxChanges {
		return fmt.Errorf("decision has %d changes, more than %d", len(changes), command.MaxChanges)
	}
	for i := range changes {
		c := &changes[i]
		t := s.tables[c.Table]
		if t == nil {
			return fmt.Errorf("change of unknown table %q", c.Table)
		}
		row := reflect.ValueOf(c.Row)
		if !row.IsValid() || row.Type() != t.row || row.IsNil() {
			return fmt.Errorf("change of table %q with a %T, not a %s", c.Table, c.Row, t.row)
		}
	}
	return nil
}

// checkIndexes returns an error if changes that passed check can't be written. It is for
// previews: a command that can't be written must not enter the log, where it would stop
// every node, at each start again.
func (s *schema) checkIndexes(changes []command.Change) error {
	for i := range changes {
		for name, index := range s.tables[changes[i].Table].schema.Indexes {
			var ok bool
			var err error
			switch indexer := index.Indexer.(type) {
			case memdb.SingleIndexer:
				ok, _, err = indexer.FromObject(changes[i].Row)
			case memdb.MultiIndexer:
				ok, _, err = indexer.FromObject(changes[i].Row)
			}
			if err != nil {
				return fmt.Errorf("change of table %q, index %q: %w", changes[i].Table, name, err)
			}
			if !ok && !index.AllowMissing {
				return fmt.Errorf("change of table %q has no value for index %q", changes[i].Table, name)
			}
		}
	}
	return nil
}

// write is the only place where commands change rows. After an error the caller
// drops the transaction: memdb has no savepoints.
func write(txn *memdb.Txn, changes []command.Change) error {
	for i := range changes {
		c := &changes[i]
		var err error
		if c.Delete {
			err = txn.Delete(c.Table, c.Row)
			if errors.Is(err, memdb.ErrNotFound) {
				err = nil // allowed by Change
			}
		} else {
			err = txn.Insert(c.Table, c.Row)
		}
		if err != nil {
			return fmt.Errorf("write to table %q: %w", c.Table, err)
		}
	}
	return nil
}
