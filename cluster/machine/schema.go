package machine

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// ReservedKinds is the first of the kinds that a Machine's rules must not use: those of
// packages machine and member.
const ReservedKinds command.Kind = 0xff00

// schema is a Machine that was validated, and completed with the table and the command of
// this package. It is immutable.
type schema struct {
	db       *memdb.DBSchema
	tables   map[string]*table
	names    []string // of tables, sorted: the order of snapshots
	commands map[command.Kind]func() command.Command
	outcome  func(command.Kind, []byte) (any, error)
	level    uint32 // highest feature level of this program
	since    map[command.Kind]uint32
	derived  *Derived // may be nil
}

// table is the part of a schema that is needed to write and restore one table.
type table struct {
	name   string
	schema *memdb.TableSchema
	empty  func() any
	row    reflect.Type
}

// compile validates a machine.
func compile(m Machine) (*schema, error) {
	s := &schema{
		db:       &memdb.DBSchema{Tables: maps.Clone(m.Tables)},
		tables:   make(map[string]*table),
		commands: maps.Clone(m.Commands),
		outcome:  m.Outcome,
		level:    m.Level,
		since:    maps.Clone(m.Since),
	}
	if err := checkSince(m); err != nil {
		return nil, err
	}
	if s.db.Tables == nil {
		s.db.Tables = make(map[string]*memdb.TableSchema)
	}
	if s.db.Tables[StatusTable] != nil {
		return nil, fmt.Errorf("table %q is reserved", StatusTable)
	}
	s.db.Tables[StatusTable] = onlyRowSchema(StatusTable)
	if err := s.db.Validate(); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	for name, ts := range s.db.Tables {
		empty := m.Rows[name]
		if name == StatusTable {
			empty = func() any { return new(Status) }
		}
		if empty == nil {
			return nil, fmt.Errorf("table %q has no prototype row", name)
		}
		row := reflect.TypeOf(empty())
		if row == nil || row.Kind() != reflect.Pointer {
			return nil, fmt.Errorf("prototype row of table %q is not a pointer", name)
		}
		s.tables[name] = &table{name: name, schema: ts, empty: empty, row: row}
	}
	for name := range m.Rows {
		if s.tables[name] == nil {
			return nil, fmt.Errorf("prototype row for unknown table %q", name)
		}
	}
	if err := s.addDerived(m.Derived); err != nil {
		return nil, err
	}
	if s.commands == nil {
		s.commands = make(map[command.Kind]func() command.Command)
	}
	if s.commands[KindHalt] != nil {
		return nil, fmt.Errorf("command kind %d is reserved", KindHalt)
	}
	s.commands[KindHalt] = func() command.Command { return new(Halt) }
	for kind, empty := range s.commands {
		c := empty()
		if c == nil || reflect.TypeOf(c).Kind() != reflect.Pointer {
			return nil, fmt.Errorf("command kind %d: the empty command is not a pointer", kind)
		}
		if c.Kind() != kind {
			return nil, fmt.Errorf("command kind %d returns kind %d", kind, c.Kind())
		}
	}
	s.names = slices.Sorted(maps.Keys(s.tables))
	return s, nil
}

// checkSince refuses kinds that need a higher level than the machine's.
func checkSince(m Machine) error {
	for kind, level := range m.Since {
		if level > m.Level {
			return fmt.Errorf("command kind %d needs level %d, and the machine has %d", kind, level, m.Level)
		}
	}
	return nil
}

// open returns an empty database of this schema.
func (s *schema) open() *memdb.MemDB {
	db, err := memdb.NewMemDB(s.db)
	if err != nil {
		panic(fmt.Sprintf("machine: memdb refused a validated schema: %v", err))
	}
	// A snapshot of memdb does not track which watch channels a write must close. That
	// halves the cost of a write; no reader waits on them: see Changed.
	db = db.Snapshot()
	txn := db.Txn(true)
	if err := s.derive(txn); err != nil {
		panic(fmt.Sprintf("machine: %v", err))
	}
	txn.Commit()
	return db
}
