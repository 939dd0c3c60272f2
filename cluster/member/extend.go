package member

import (
	"errors"
	"fmt"
	"maps"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// The kinds of the commands of this package. They are appended, never renumbered
// or given a new meaning.
const (
	kindBootstrap = machine.ReservedKinds + 1 + iota
	kindInvite
	kindEnroll
	kindUpdate
	kindRemove
	kindRaise
	kindAuthority
	kindExpire
)

func ownCommands() map[command.Kind]func() command.Command {
	return map[command.Kind]func() command.Command{
		kindBootstrap: func() command.Command { return new(Bootstrap) },
		kindInvite:    func() command.Command { return new(AddInvite) },
		kindEnroll:    func() command.Command { return new(Enroll) },
		kindUpdate:    func() command.Command { return new(Update) },
		kindRemove:    func() command.Command { return new(Remove) },
		kindRaise:     func() command.Command { return new(RaiseLevel) },
		kindAuthority: func() command.Command { return new(SetAuthorities) },
		kindExpire:    func() command.Command { return new(ExpireInvites) },
	}
}

func ownTables() map[string]*memdb.TableSchema {
	return map[string]*memdb.TableSchema{
		MembersTable:     idTable(MembersTable, func(m *Member) string { return m.ID }),
		invitesTable:     idTable(invitesTable, func(i *Invite) string { return i.ID }),
		AuthoritiesTable: idTable(AuthoritiesTable, func(a *Authority) string { return a.ID }),
	}
}

func ownRows() map[string]func() any {
	return map[string]func() any{
		MembersTable:     func() any { return new(Member) },
		invitesTable:     func() any { return new(Invite) },
		AuthoritiesTable: func() any { return new(Authority) },
	}
}

// Extend returns m with the tables and commands of this package. It is an error if m has
// a table or a kind with the same name or number.
func Extend(m machine.Machine) (machine.Machine, error) {
	tables, rows, commands := ownTables(), ownRows(), ownCommands()
	for name := range m.Tables {
		if tables[name] != nil {
			return machine.Machine{}, fmt.Errorf("machine: table %q is reserved", name)
		}
	}
	for kind := range m.Commands {
		if kind >= machine.ReservedKinds {
			return machine.Machine{}, fmt.Errorf("machine: command kind %d is reserved", kind)
		}
	}
	maps.Copy(tables, m.Tables)
	maps.Copy(rows, m.Rows)
	maps.Copy(commands, m.Commands)
	outcome := m.Outcome
	m.Tables, m.Rows, m.Commands = tables, rows, commands
	m.Outcome = func(k command.Kind, b []byte) (any, error) {
		switch {
		case k >= machine.ReservedKinds:
			var o Outcome
			err := machine.Unmarshal(b, &o)
			return o, err
		case outcome == nil:
			return nil, errors.New("machine has no decoder of outcomes")
		}
		return outcome(k, b)
	}
	return m, nil
}
