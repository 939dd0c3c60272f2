package ledger

import (
	"slices"

	"github.com/hashicorp/go-memdb"
)

// TableCurrent has one row that the machine derives from others: see machine.Derived.
const TableCurrent = "current"

// CurrentFrom are the tables that it is derived from.
func CurrentFrom() []string { return []string{TableSettings, TableKeys, TableRestores} }

// current is what nearly every decision reads. To look it up in its tables each time
// would cost more than the rest of a refresh.
type current struct {
	settings *Settings // never nil
	restore  *Restore  // never nil
	// signing and credential are the active keys, nil in a cluster that has made none yet.
	signing, credential *Key
	credentials         []uint32 // numbers of all credential keys
}

// Current is the row of TableCurrent for the other rows of a transaction.
func Current(txn *memdb.Txn) any {
	v := View{txn: txn}
	c := &current{
		settings: first[Settings](v, TableSettings, indexID, SettingsID),
		restore:  first[Restore](v, TableRestores, indexID, RestoreID),
	}
	if c.settings == nil {
		s := DefaultSettings()
		c.settings = &s
	}
	if c.restore == nil {
		c.restore = new(Restore)
	}
	for k := range v.Keys() {
		if k.Purpose == ForCredentials {
			c.credentials = append(c.credentials, k.Number)
		}
		if k.State != KeyActive {
			continue
		}
		switch {
		case k.Purpose == ForSigning && c.signing == nil:
			c.signing = k
		case k.Purpose == ForCredentials && c.credential == nil:
			c.credential = k
		}
	}
	return c
}

// anyKey finds the only row of TableCurrent.
var anyKey = []any{true}

// At returns the view of a transaction.
func At(txn *memdb.Txn) View {
	row, err := txn.First(TableCurrent, indexID, anyKey...)
	if err != nil { // a database of Tables alone, without a machine
		row = Current(txn)
	}
	return View{txn, row.(*current)}
}

// Settings returns the settings, the defaults before the first Configure. It is never nil.
func (v View) Settings() *Settings { return v.current.settings }

// Restore returns the last restore or recovery. It is never nil: before the first, it is
// the zero Restore, which covers no row.
func (v View) Restore() *Restore { return v.current.restore }

// ActiveKey returns the key of a purpose to mint with, or nil before the first was added.
func (v View) ActiveKey(p Purpose) *Key {
	if p == ForSigning {
		return v.current.signing
	}
	return v.current.credential
}

// keyKnown reports whether credentials made under a key can still be verified.
func (v View) keyKnown(number uint32) bool { return slices.Contains(v.current.credentials, number) }
