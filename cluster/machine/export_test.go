package machine

import "github.com/hashicorp/go-memdb"

// Fill inserts rows as they are.
func Fill(m *Memory, rows int, row func(int) (string, any)) (err error) {
	m.core.Edit(func(txn *memdb.Txn) {
		for i := range rows {
			table, r := row(i)
			if err == nil {
				err = txn.Insert(table, r)
			}
		}
	})
	return err
}
