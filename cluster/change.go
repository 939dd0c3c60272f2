package cluster

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/hashicorp/go-memdb"
)

// check says whether changes can be written. memdb has no savepoints, so that
// every change is checked before the first one is written.
func (s *schema) check(changes []Change) error {
	if len(changes) > MaxChanges {
		return fmt.Errorf("a decision of %d changes, more than %d", len(changes), MaxChanges)
	}
	for i := range changes {
		if err := s.checkOne(&changes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *schema) checkOne(c *Change) error {
	t := s.tables[c.Table]
	if t == nil || c.Table == statusTable {
		return fmt.Errorf("a change of unknown table %q", c.Table)
	}
	row := reflect.ValueOf(c.Row)
	if !row.IsValid() || row.Type() != t.row || row.IsNil() {
		return fmt.Errorf("a change of table %q with a %T, not a %s", c.Table, c.Row, t.row)
	}
	for name, index := range t.schema.Indexes {
		var ok bool
		var err error
		switch indexer := index.Indexer.(type) {
		case memdb.SingleIndexer:
			ok, _, err = indexer.FromObject(c.Row)
		case memdb.MultiIndexer:
			ok, _, err = indexer.FromObject(c.Row)
		}
		if err != nil {
			return fmt.Errorf("a change of table %q, index %q: %w", c.Table, name, err)
		}
		if !ok && !index.AllowMissing {
			return fmt.Errorf("a change of table %q has no value for index %q", c.Table, name)
		}
	}
	return nil
}

// write is the only place where commands change rows.
func write(txn *memdb.Txn, changes []Change) error {
	for i := range changes {
		c := &changes[i]
		var err error
		if c.Delete {
			err = txn.Delete(c.Table, c.Row)
			if errors.Is(err, memdb.ErrNotFound) {
				err = nil // promised by Change
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
