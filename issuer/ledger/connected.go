package ledger

import (
	"cmp"
	"slices"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Connected says how many users a client is connected to.
type Connected struct {
	Users     int
	Grants    int
	Refreshed Time // when any of them was last exchanged or refreshed, 0 for never
	Recent    []ConnectedUser
}

// A ConnectedUser is one of them, with all grants as one.
type ConnectedUser struct {
	User      string // id
	Since     Time   // of the first grant that lives
	Refreshed Time   // 0 for never
	Legacy    bool   // one of the grants has no limits
	Profile   bool   // one of the grants lets the client see who it is
}

// Connected counts the users who have a live grant for a client, and names those
// of them that were refreshed last. It walks the table of users and looks at
// every grant there is, as neither has an index by client: about two seconds for a
// million grants. Never on a request's path: whoever shows it keeps the answer.
func (v View) Connected(client string, at Time, recent int) Connected {
	var all Connected
	settings := v.Settings()
	for u := range v.Users() {
		one, grants := v.connection(u, client, settings, at)
		if grants == 0 {
			continue
		}
		all.Users++
		all.Grants += grants
		all.Refreshed = max(all.Refreshed, one.Refreshed)
		all.Recent = append(all.Recent, one)
		if len(all.Recent) >= 2*recent {
			all.Recent = newestFirst(all.Recent, recent)
		}
	}
	all.Recent = newestFirst(all.Recent, recent)
	return all
}

// ConnectedAs is how a client is connected to a user, false for not at all. It
// looks at that user's grants only.
func (v View) ConnectedAs(user, client string, at Time) (ConnectedUser, bool) {
	u := v.User(user)
	if u == nil {
		return ConnectedUser{}, false
	}
	one, grants := v.connection(u, client, v.Settings(), at)
	return one, grants > 0
}

func (v View) connection(u *User, client string, settings *Settings, at Time) (one ConnectedUser, grants int) {
	one.User = u.ID
	for _, g := range v.grantsOf(u, client, settings, at) {
		if grants++; grants == 1 {
			one.Since = g.Created
		}
		one.Since = min(one.Since, g.Created)
		one.Refreshed = max(one.Refreshed, g.Used)
		one.Legacy = one.Legacy || g.Legacy
		one.Profile = one.Profile || g.Legacy || scope.FromClaim(g.Scope).Covers(scope.ProfileRead)
	}
	return one, grants
}

func newestFirst(list []ConnectedUser, most int) []ConnectedUser {
	slices.SortFunc(list, func(a, b ConnectedUser) int {
		return cmp.Or(cmp.Compare(b.Refreshed, a.Refreshed), cmp.Compare(a.User, b.User))
	})
	return list[:min(len(list), most)]
}
