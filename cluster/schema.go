package cluster

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// schema is a Machine that was checked and completed with the table of this
// package. It is immutable.
type schema struct {
	db       *memdb.DBSchema
	tables   map[string]*table
	names    []string // of tables, sorted: the order of snapshots
	commands map[command.Kind]func() command.Command
	outcome  func(command.Kind, []byte) (any, error)
	level    uint32 // highest feature level of this program
	since    map[command.Kind]uint32
}

// table is what writing and restoring need to know of one table.
type table struct {
	name   string
	schema *memdb.TableSchema
	empty  func() any
	row    reflect.Type
}

// compile checks a machine.
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
	for name, own := range ownTables() {
		if _, taken := s.db.Tables[name]; taken {
			return nil, fmt.Errorf("table %q belongs to the cluster package", name)
		}
		s.db.Tables[name] = own
	}
	if err := s.db.Validate(); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	for name, ts := range s.db.Tables {
		empty := m.Rows[name]
		if own := ownRows[name]; own != nil {
			empty = own
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
	if s.commands == nil {
		s.commands = make(map[command.Kind]func() command.Command)
	}
	for kind := range s.commands {
		if kind >= ownKinds {
			return nil, fmt.Errorf("command kind %d belongs to the cluster package", kind)
		}
	}
	maps.Copy(s.commands, ownCommands())
	for kind, empty := range s.commands {
		c := empty()
		if c == nil || reflect.TypeOf(c).Kind() != reflect.Pointer {
			return nil, fmt.Errorf("command kind %d: the empty command is not a pointer", kind)
		}
		if c.Kind() != kind {
			return nil, fmt.Errorf("command kind %d calls itself %d", kind, c.Kind())
		}
	}
	s.names = slices.Sorted(maps.Keys(s.tables))
	return s, nil
}

// open returns an empty database of this schema.
func (s *schema) open() *memdb.MemDB {
	db, err := memdb.NewMemDB(s.db)
	if err != nil {
		panic(fmt.Sprintf("cluster: a checked schema was refused: %v", err))
	}
	// A snapshot does not track which watch channels a write must close. That
	// halves the work of a write, and nobody here waits on them: see Changed.
	return db.Snapshot()
}
