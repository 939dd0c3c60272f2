package apply

import (
	"context"
	"slices"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Options say how files are applied.
type Options struct {
	Manager string // name under which clients are made: see ledger.Client.ManagedBy
	Adopt   bool   // manage existing clients that the files name
	Prune   bool   // remove clients of Manager that the files do not name
}

// A State is the part of a cluster's state that files concern.
type State struct {
	Settings []admin.Setting
	Users    map[string]*admin.DescribedUser   // by the name or id that the files have
	Clients  map[string]*admin.DescribedClient // by id, deleted ones included
	Surplus  []*admin.DescribedClient          // of the manager, and not named by the files
}

// batch bounds how many rows one operation describes.
const batch = 500

// ReadState reads what a plan for the files needs.
func ReadState(ctx context.Context, c *admin.Caller, d *declare.Declaration, o Options) (*State, error) {
	s := &State{Users: map[string]*admin.DescribedUser{}, Clients: map[string]*admin.DescribedClient{}}
	if err := s.readClients(ctx, c, d); err != nil {
		return nil, err
	}
	if err := s.readUsers(ctx, c, d); err != nil {
		return nil, err
	}
	settings, err := admin.ShowSettings.Call(ctx, c, admin.SettingsQuery{})
	if err != nil {
		return nil, err
	}
	s.Settings = settings.Settings
	if o.Prune {
		err = s.readSurplus(ctx, c, o.Manager)
	}
	return s, err
}

func (s *State) readClients(ctx context.Context, c *admin.Caller, d *declare.Declaration) error {
	var asked []admin.ClientQuestion
	for i := range d.Clients {
		q := admin.ClientQuestion{ID: d.Clients[i].ID}
		for j := range d.Clients[i].Secrets {
			q.Secrets = append(q.Secrets, d.Clients[i].Secrets[j].Declared())
		}
		asked = append(asked, q)
	}
	return describeClients(ctx, c, asked, false, func(one *admin.DescribedClient) { s.Clients[one.ID] = one })
}

func describeClients(ctx context.Context, c *admin.Caller, asked []admin.ClientQuestion, grants bool, each func(*admin.DescribedClient)) error {
	for some := range slices.Chunk(asked, batch) {
		found, err := admin.DescribeClients.Call(ctx, c, admin.ClientsQuery{Clients: some, Grants: grants})
		if err != nil {
			return err
		}
		for i := range found.Clients {
			each(&found.Clients[i])
		}
	}
	return nil
}

// readUsers reads the declared users, by name and by id, and the owners of clients.
func (s *State) readUsers(ctx context.Context, c *admin.Caller, d *declare.Declaration) error {
	var asked []admin.UserQuestion
	known := map[string]bool{"": true}
	ask := func(ref string, password, hash admin.Plain) {
		if !known[ref] {
			known[ref] = true
			asked = append(asked, admin.UserQuestion{User: ref, Password: password, PasswordHash: hash})
		}
	}
	for i := range d.Users {
		u := &d.Users[i]
		password := admin.Plain("")
		if u.ResetPassword {
			password = u.Password
		}
		ask(u.ID, password, u.PasswordHash)
		ask(u.Username, password, u.PasswordHash)
	}
	for i := range d.Clients {
		ask(d.Clients[i].Owner, "", "")
	}
	return describeUsers(ctx, c, asked, func(one *admin.DescribedUser) { s.Users[one.Asked] = one })
}

func describeUsers(ctx context.Context, c *admin.Caller, asked []admin.UserQuestion, each func(*admin.DescribedUser)) error {
	for some := range slices.Chunk(asked, batch) {
		found, err := admin.DescribeUsers.Call(ctx, c, admin.UsersQuery{Users: some})
		if err != nil {
			return err
		}
		for i := range found.Users {
			each(&found.Users[i])
		}
	}
	return nil
}

func (s *State) readSurplus(ctx context.Context, c *admin.Caller, manager string) error {
	list, err := admin.ListClients.Call(ctx, c, admin.ClientFilter{})
	if err != nil {
		return err
	}
	var asked []admin.ClientQuestion
	for i := range list.Clients {
		if one := &list.Clients[i]; one.ManagedBy == manager && s.Clients[one.ID] == nil {
			asked = append(asked, admin.ClientQuestion{ID: one.ID})
		}
	}
	return describeClients(ctx, c, asked, true, func(one *admin.DescribedClient) {
		if one.State != string(ledger.Deleted) && one.ManagedBy == manager {
			s.Surplus = append(s.Surplus, one)
		}
	})
}

// LedgerSettings returns the settings of the cluster.
func (s *State) LedgerSettings() ledger.Settings { return admin.SettingsOf(s.Settings) }
