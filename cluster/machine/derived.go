package machine

import (
	"fmt"
	"slices"

	"github.com/hashicorp/go-memdb"
)

// Derived is one value that is made of rows and kept beside them, for what nearly every
// command reads. A transaction that changes one of its tables makes it anew, so it
// belongs to the same state as the rows that are read beside it. It is in no snapshot
// and in no checksum.
type Derived struct {
	// Table has the value as its only row, under any argument. Commands can't write it.
	Table string
	// From are the tables that it is made of.
	From []string
	// Make returns the value, which is not changed after that.
	Make func(txn *memdb.Txn) any
}

// onlyKey is the key of the only row of a table.
var onlyKey = []byte("only")

// onlyIndex is the id index of a table with one row.
type onlyIndex struct{}

func (onlyIndex) FromArgs(...any) ([]byte, error) { return onlyKey, nil }

func (onlyIndex) FromObject(any) (bool, []byte, error) { return true, onlyKey, nil }

func onlyRowSchema(table string) *memdb.TableSchema {
	return &memdb.TableSchema{
		Name:    table,
		Indexes: map[string]*memdb.IndexSchema{"id": {Name: "id", Unique: true, Indexer: onlyIndex{}}},
	}
}

// addDerived adds the table of a Derived to the schema.
func (s *schema) addDerived(d *Derived) error {
	if d == nil {
		return nil
	}
	if s.db.Tables[d.Table] != nil {
		return fmt.Errorf("table %q has rows and a derived value", d.Table)
	}
	for _, name := range d.From {
		if s.tables[name] == nil {
			return fmt.Errorf("table %q is derived from unknown table %q", d.Table, name)
		}
	}
	s.db.Tables[d.Table] = onlyRowSchema(d.Table)
	s.derived = d
	return s.db.Validate()
}

// derives reports whether a change of a table changes the derived value.
func (s *schema) derives(table string) bool {
	return s.derived != nil && slices.Contains(s.derived.From, table)
}

// derive makes the derived value of the rows of a transaction.
func (s *schema) derive(txn *memdb.Txn) error {
	if s.derived == nil {
		return nil
	}
	if err := txn.Insert(s.derived.Table, s.derived.Make(txn)); err != nil {
		return fmt.Errorf("write derived table %q: %w", s.derived.Table, err)
	}
	return nil
}
