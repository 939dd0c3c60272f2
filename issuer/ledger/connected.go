package ledger

import (
	"cmp"
	"slices"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Connected describes the users who are connected to a client.
type Connected struct {
	Users     int
	Grants    int
	Refreshed Time // time of the last exchange or refresh of any grant, 0 if there was none
	Recent    []ConnectedUser
}

// A ConnectedUser is one user of a client, with all grants taken together.
type ConnectedUser struct {
	User      string // id
	Since     Time   // creation of the oldest live grant
	Refreshed Time   // 0 if never
	Legacy    bool   // at least one grant has no limits
	Profile   bool   // at least one grant lets the client read the user's profile
}

// Connected counts the users who have a live grant for a client, and returns those with
// the latest refreshes. Neither users nor grants are indexed by client, so it walks all
// users and reads every grant: about two seconds for a million grants. It must not run
// for each request; callers cache the result.
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

// ConnectedAs returns how a client is connected to a user, and whether it is. It reads
// that user's grants only.
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
		one.Profile = one.Profile || g.Legacy || scope.FromClaim(v.ScopeOf(g)).Covers(scope.ProfileRead)
	}
	return one, grants
}

func newestFirst(list []ConnectedUser, most int) []ConnectedUser {
	slices.SortFunc(list, func(a, b ConnectedUser) int {
		return cmp.Or(cmp.Compare(b.Refreshed, a.Refreshed), cmp.Compare(a.User, b.User))
	})
	return list[:min(len(list), most)]
}

// ConnectedTo counts the users who are connected to each client of an owner, by Client.ID, without
// listing them. It walks all users once, like Connected.
func (v View) ConnectedTo(owner string, at Time) map[string]Connected {
	all, settings := map[string]Connected{}, v.Settings()
	for u := range v.Users() {
		counted := map[string]bool{}
		for _, g := range v.grantsOf(u, "", settings, at) {
			if v.Client(g.Client).Owner != owner {
				continue
			}
			one := all[g.Client]
			if !counted[g.Client] {
				counted[g.Client] = true
				one.Users++
			}
			one.Grants++
			one.Refreshed = max(one.Refreshed, g.Used)
			all[g.Client] = one
		}
	}
	return all
}

// PublisherGrants are the live grants for the clients of a publisher.
type PublisherGrants struct {
	ByClient map[string]int // number of grants by Client.ID
	Users    int            // who have one or more
}

// GrantsOfPublisher counts the live grants for the clients of a publisher. It walks all users like
// Connected.
func (v View) GrantsOfPublisher(host string, at Time) PublisherGrants {
	all, settings, owner := PublisherGrants{ByClient: map[string]int{}}, v.Settings(), publisherOwner(host)
	for u := range v.Users() {
		counted := false
		for _, g := range v.grantsOf(u, "", settings, at) {
			if !g.Agent {
				continue
			}
			if v.Client(g.Client).Owner == owner {
				all.ByClient[g.Client]++
				if !counted {
					counted = true
					all.Users++
				}
			}
		}
	}
	return all
}
