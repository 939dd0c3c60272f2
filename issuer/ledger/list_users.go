package ledger

// A UserQuery selects users, ordered by user name. The zero value selects all that are not
// deleted.
type UserQuery struct {
	Search   string // part of the user name, name, e-mail address or id, ignoring case
	Admins   bool   // administrators only
	Disabled bool   // disabled users only
	After    string // id of the last user of the previous page
	Back     bool   // like ClientQuery.Back
	Limit    int
}

// ListUsers returns one page. next is like that of ListClients.
func (v View) ListUsers(q UserQuery) (found []*User, next string) {
	search := fold(q.Search)
	match := func(u *User) bool {
		return (!q.Disabled || u.Disabled) && anyContains(search, u.Username, u.Name, u.Email, u.ID)
	}
	index := "username" // that of administrators has no others
	switch {
	case q.Admins:
		index = "admin"
	case q.Disabled:
		index = "disabled"
	}
	var values []any
	if last := v.User(q.After); last != nil && !last.Deleted {
		values = []any{fold(last.Username)}
	} else if q.Back {
		return nil, ""
	}
	all := skipRow(scanFrom[User](v, TableUsers, index, q.Back, values...), func(u *User) bool { return u.ID == q.After })
	if search != "" {
		all = prefetch(all, (*User).touch)
	}
	return page(all, q.Back, q.Limit, match, func(u *User) string { return u.ID })
}

// nameIf is the key of indexes that only contain users with some property, in the order of
// the others.
func (u *User) nameIf(is bool) []string {
	if !is || u.Username == "" {
		return nil
	}
	return []string{fold(u.Username)}
}
