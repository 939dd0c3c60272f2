package ledger

// Numbers are how many clients, users, sessions and grants a state has.
type Numbers struct {
	Clients  map[ClientState]int // without the deleted ones
	Users    int                 // without the deleted ones
	Sessions int                 // with those that expired and were not swept yet
	Grants   int                 // that were not ended; with those that expired and were not swept yet
}

// Numbers counts the rows. It walks all of them, which takes about a second for ten million
// grants.
func (v View) Numbers() Numbers {
	n := Numbers{Clients: map[ClientState]int{}}
	for c := range v.Clients() {
		if c.State != Deleted {
			n.Clients[c.State]++
		}
	}
	for u := range allRows[User](v, TableUsers) {
		if !u.Deleted {
			n.Users++
		}
	}
	for range allRows[Session](v, TableSessions) {
		n.Sessions++
	}
	for g := range allRows[Grant](v, TableGrants) {
		if g.Ended == 0 {
			n.Grants++
		}
	}
	return n
}
