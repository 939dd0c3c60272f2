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
	Manager string // name under which clients, resource servers and publishers are made: see ledger.Client.ManagedBy
	Adopt   bool   // manage existing ones that the files name
	Prune   bool   // remove those of Manager that the files do not name
	Remote  bool   // by an operator on another machine, who may not make or change administrators
}

// A State is the part of a cluster's state that files concern.
type State struct {
	Settings []admin.Setting
	Users    map[string]*admin.DescribedUser   // by the name or id that the files have
	Clients  map[string]*admin.DescribedClient // by id, deleted ones included
	Surplus  []*admin.DescribedClient          // of the manager, and not named by the files

	ResourceServers  map[string]*admin.DescribedResourceServer // by identifier URI
	SurplusResources []*admin.DescribedResourceServer          // as Surplus

	Publishers        map[string]*admin.Publisher // by host
	SurplusPublishers []*admin.Publisher          // as Surplus
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
	if err := s.readResourceServers(ctx, c, d); err != nil {
		return nil, err
	}
	if err := s.readPublishers(ctx, c, d, o); err != nil {
		return nil, err
	}
	settings, err := admin.ShowSettings.Call(ctx, c, admin.SettingsQuery{})
	if err != nil {
		return nil, err
	}
	s.Settings = settings.Settings
	if !o.Prune {
		return s, nil
	}
	if err := s.readSurplus(ctx, c, o.Manager); err != nil {
		return nil, err
	}
	return s, s.readSurplusResources(ctx, c, o.Manager)
}

func (s *State) readClients(ctx context.Context, c *admin.Caller, d *declare.Declaration) error {
	var asked []admin.ClientQuestion
	for i := range d.Clients {
		asked = append(asked, admin.ClientQuestion{ID: d.Clients[i].ID, Secrets: declaredSecrets(d.Clients[i].Secrets)})
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

func declaredSecrets(secrets []declare.Secret) (all []admin.DeclaredSecret) {
	for i := range secrets {
		all = append(all, secrets[i].Declared())
	}
	return all
}

func (s *State) readResourceServers(ctx context.Context, c *admin.Caller, d *declare.Declaration) error {
	s.ResourceServers = map[string]*admin.DescribedResourceServer{}
	var asked []admin.ResourceServerQuestion
	for i := range d.ResourceServers {
		asked = append(asked, admin.ResourceServerQuestion{ID: d.ResourceServers[i].ID, Secrets: declaredSecrets(d.ResourceServers[i].Secrets)})
	}
	return describeResourceServers(ctx, c, asked, false, func(one *admin.DescribedResourceServer) { s.ResourceServers[one.ID] = one })
}

func describeResourceServers(ctx context.Context, c *admin.Caller, asked []admin.ResourceServerQuestion, grants bool, each func(*admin.DescribedResourceServer)) error {
	for some := range slices.Chunk(asked, batch) {
		found, err := admin.DescribeResourceServers.Call(ctx, c, admin.ResourceServersQuery{ResourceServers: some, Grants: grants})
		if err != nil {
			return err
		}
		for i := range found.ResourceServers {
			each(&found.ResourceServers[i])
		}
	}
	return nil
}

func (s *State) readSurplusResources(ctx context.Context, c *admin.Caller, manager string) error {
	list, err := admin.ListResourceServers.Call(ctx, c, admin.ResourceServerFilter{})
	if err != nil {
		return err
	}
	var asked []admin.ResourceServerQuestion
	for i := range list.ResourceServers {
		if one := &list.ResourceServers[i]; one.ManagedBy == manager && s.ResourceServers[one.ID] == nil {
			asked = append(asked, admin.ResourceServerQuestion{ID: one.ID})
		}
	}
	return describeResourceServers(ctx, c, asked, true, func(one *admin.DescribedResourceServer) {
		if one.ManagedBy == manager {
			s.SurplusResources = append(s.SurplusResources, one)
		}
	})
}

func (s *State) readPublishers(ctx context.Context, c *admin.Caller, d *declare.Declaration, o Options) error {
	s.Publishers = map[string]*admin.Publisher{}
	if len(d.Publishers) == 0 && !o.Prune {
		return nil
	}
	list, err := admin.ListPublishers.Call(ctx, c, admin.PublisherFilter{Grants: o.Prune})
	declared := map[string]bool{}
	for i := range d.Publishers {
		declared[d.Publishers[i].Host] = true
	}
	for i := range list.Publishers {
		one := &list.Publishers[i]
		s.Publishers[one.Host] = one
		if o.Prune && one.ManagedBy == o.Manager && !declared[one.Host] {
			s.SurplusPublishers = append(s.SurplusPublishers, one)
		}
	}
	return err
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
		if u.ID != "" { // it finds the user; the name only shows whether another one has it
			ask(u.ID, password, u.PasswordHash)
			ask(u.Username, "", "")
			continue
		}
		ask(u.Username, password, u.PasswordHash)
	}
	for i := range d.Clients {
		ask(d.Clients[i].Owner, "", "")
	}
	return describeUsers(ctx, c, asked, func(one *admin.DescribedUser) { s.Users[one.Asked] = one })
}

func describeUsers(ctx context.Context, c *admin.Caller, asked []admin.UserQuestion, each func(*admin.DescribedUser)) error {
	for len(asked) > 0 {
		n := userBatch(asked)
		found, err := admin.DescribeUsers.Call(ctx, c, admin.UsersQuery{Users: asked[:n]})
		if err != nil {
			return err
		}
		for i := range found.Users {
			each(&found.Users[i])
		}
		asked = asked[n:]
	}
	return nil
}

// userBatch returns how many of the questions one operation answers.
func userBatch(asked []admin.UserQuestion) (n int) {
	passwords := 0
	for n < len(asked) && n < batch {
		if asked[n].Password != "" {
			if passwords++; passwords > admin.MaxPasswordChecks {
				break
			}
		}
		n++
	}
	return n
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
