package ledger

import "iter"

// A UserQuery selects users, ordered by user name. The zero value selects all that are not
// deleted.
type UserQuery struct {
	Search   string // part of the user name, name, e-mail address or id, ignoring case
	Admins   bool   // administrators only
	Disabled bool   // disabled users only
	Sort     UserSort
	From     string // like ClientQuery.From, for the user name
	After    string // id of the last user of the previous page
	Back     bool   // like ClientQuery.Back
	Limit    int
}

// A UserSort is an order of users. Another than by user name is like one of ClientSort.
type UserSort string

// Orders of users.
const (
	UsersByUsername UserSort = ""
	UsersByCreated  UserSort = "created" // the newest first
)

// ListUsers returns one page. next is like that of ListClients.
func (v View) ListUsers(q UserQuery) (found []*User, next string) {
	last := v.User(q.After)
	if last != nil && last.Deleted {
		last = nil
	}
	if q.Back && last == nil {
		return nil, ""
	}
	if q.Sort == UsersByCreated {
		q.From = ""
		if rows, all := matching(v.byUsername(q, nil, false), q.match(), (*User).newest); all {
			return sortedPage(rows, (*User).newest, last, q.Back, q.Limit, (*User).id)
		}
	}
	all := skipRow(v.byUsername(q, last, q.Back), func(u *User) bool { return u.ID == q.After })
	return page(all, q.Back, q.Limit, q.match(), (*User).id)
}

// UserInitials is like ClientInitials, for the user names of q's administrators, disabled users or
// all.
func (v View) UserInitials(q UserQuery) string {
	return initials(func(from string) string {
		q.From = from
		for u := range v.byUsername(q, nil, false) {
			return fold(u.Username)
		}
		return ""
	})
}

func (u *User) id() string { return u.ID }

func (u *User) newest() string { return newestKey(u.Created, u.ID) }

// UsersPosition is like ClientsPosition.
func (v View) UsersPosition(q UserQuery, first string) Position {
	q.From = ""
	if u := v.User(first); u != nil && q.Sort == UsersByCreated {
		if p := positionBefore(v.byUsername(q, nil, false), q.match(), u, (*User).newest); p.Exact {
			return p
		}
	}
	return positionOf(v.byUsername(q, nil, false), q.match(), func(u *User) bool { return u.ID == first })
}

// match returns whether q selects a user of byUsername.
func (q *UserQuery) match() func(*User) bool {
	search := fold(q.Search)
	return func(u *User) bool {
		return (!q.Disabled || u.Disabled) && anyContains(search, u.Username, u.Name, u.Email, u.ID)
	}
}

// byUsername returns the users, administrators, or disabled users from a user on, or up to it.
func (v View) byUsername(q UserQuery, from *User, back bool) iter.Seq[*User] {
	index := "username" // that of administrators has no others
	switch {
	case q.Admins:
		index = "admin"
	case q.Disabled:
		index = "disabled"
	}
	var values []any
	switch {
	case from != nil:
		values = []any{fold(from.Username)}
	case q.From != "":
		values = []any{fold(q.From)}
	}
	all := scanFrom[User](v, TableUsers, index, back, values...)
	if q.Search != "" {
		return prefetch(all, (*User).touch)
	}
	return all
}

// nameIf is the key of indexes that only contain users with some property, in the order of
// the others.
func (u *User) nameIf(is bool) []string {
	if !is || u.Username == "" {
		return nil
	}
	return []string{fold(u.Username)}
}
