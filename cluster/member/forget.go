package member

import (
	"fmt"

	"github.com/hashicorp/go-memdb"
)

// Forget removes members and all invites from a state on which no raft runs, and, if no
// member is kept, the authorities.
func Forget(txn *memdb.Txn, keep func(*Member) bool) {
	kept := 0
	for _, m := range All(txn) {
		if keep(m) {
			kept++
			continue
		}
		mustDelete(txn, MembersTable, m)
	}
	for _, i := range Invites(txn) {
		mustDelete(txn, invitesTable, i)
	}
	if kept == 0 {
		for _, a := range Authorities(txn) {
			mustDelete(txn, AuthoritiesTable, a)
		}
	}
}

func mustDelete(txn *memdb.Txn, table string, row any) {
	if err := txn.Delete(table, row); err != nil {
		panic(fmt.Sprintf("member: delete a row that was just read: %v", err))
	}
}
