package admin

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// NewUser requests an account that signs in by password.
type NewUser struct {
	ID       string `json:"id,omitempty"` // generated if absent
	Username string `json:"username"`
	Email    string `json:"email,omitempty"`
	Name     string `json:"name,omitempty"`
	TimeZone string `json:"time_zone,omitempty"`
	Admin    bool   `json:"admin,omitempty"`
	Password Plain  `json:"password,omitempty"` // generated if absent
	// PasswordHash is a hash that another system made of the password, instead of Password.
	PasswordHash Plain `json:"password_hash,omitempty"`
}

// An AddedUser has the password only if it was generated.
type AddedUser struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Password Plain  `json:"password,omitempty"`
}

// A UserRef names a user by name or id.
type UserRef struct {
	User string `json:"user"`
}

// A UserFilter selects users of the list: all but deleted ones, or all.
type UserFilter struct {
	Deleted bool `json:"deleted,omitempty"`
}

// A UserList is ordered by id.
type UserList struct {
	Users []User `json:"users"`
}

// A User is an account, for operators.
type User struct {
	ID       string    `json:"id"`
	Username string    `json:"username"`
	Name     string    `json:"name,omitempty"`
	Email    string    `json:"email,omitempty"`
	TimeZone string    `json:"time_zone,omitempty"`
	State    string    `json:"state"` // "enabled", "disabled" or "deleted"
	Admin    bool      `json:"admin"`
	Upstream string    `json:"upstream,omitempty"` // issuer of the upstream provider, if the user signs in there
	Password bool      `json:"has_password"`
	Imported bool      `json:"password_imported,omitempty"` // the password is a hash of another system, until the next sign-in
	Created  time.Time `json:"created_at"`
	Profile

	// The following fields are set only if one user is shown.
	Clients []string `json:"clients,omitempty"` // ids of the clients the user owns
	Grants  int      `json:"grants,omitempty"`  // number of live grants
}

func userOf(u *ledger.User) User {
	state := "enabled"
	switch {
	case u.Deleted:
		state = "deleted"
	case u.Disabled:
		state = "disabled"
	}
	return User{
		ID: u.ID, Username: u.Username, Name: u.Name, Email: u.Email, TimeZone: u.TimeZone,
		State: state, Admin: u.Admin, Upstream: u.Upstream, Password: u.Password != "", Imported: u.PasswordCost.Kind != "", Created: stdTime(u.Created),
		Profile: Profile{
			AvatarURL: u.AvatarURL, Bio: u.Bio, TimeFormat: u.TimeFormat, DefaultScheduleID: u.DefaultScheduleID,
			WeekStart: u.WeekStart, Locale: u.Locale, OrganizationID: u.OrganizationID,
		},
	}
}

func (c *call) addUser(ctx context.Context, q NewUser) (AddedUser, error) {
	id := q.ID
	if id == "" {
		made, err := c.newID("u_")
		if err != nil {
			return AddedUser{}, err
		}
		id = made
	}
	subject := "user " + q.Username
	cmd := &ledger.PutUser{
		Actor: c.actor, ID: id, Username: q.Username, Admin: q.Admin, New: true,
		Person: ledger.Person{Email: q.Email, Name: q.Name, TimeZone: q.TimeZone},
	}
	var made Plain
	var err error
	switch {
	case q.PasswordHash == "":
		cmd.Password, made, err = c.password(ctx, subject, q.Password, q.Username, q.Name, q.Email)
	case q.Password != "":
		err = badField(subject, "password_hash", "is there beside password")
	default:
		cmd.Password, cmd.PasswordCost, err = foreignHash(subject, "password_hash", q.PasswordHash)
	}
	if err != nil {
		return AddedUser{}, err
	}
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return AddedUser{}, err
	}
	return AddedUser{ID: id, Username: q.Username, Password: made}, nil
}

func (c *call) listUsers(ctx context.Context, q UserFilter) (UserList, error) {
	list := UserList{Users: []User{}}
	v, err := c.view(ctx)
	if err != nil {
		return list, err
	}
	for u := range v.Users() {
		if q.Deleted || !u.Deleted {
			list.Users = append(list.Users, userOf(u))
		}
	}
	return list, nil
}

func (c *call) showUser(ctx context.Context, q UserRef) (User, error) {
	v, err := c.view(ctx)
	if err != nil {
		return User{}, err
	}
	u := findUser(v, q.User)
	if u == nil {
		return User{}, notFound("user " + q.User)
	}
	out := userOf(u)
	for client := range v.ClientsOf(u.ID) {
		if client.State != ledger.Deleted {
			out.Clients = append(out.Clients, client.ID)
		}
	}
	out.Grants = len(v.GrantsOf(u.ID, c.Ledger.Now()))
	return out, nil
}

// freshUser returns a user to change.
func (c *call) freshUser(ctx context.Context, ref string) (*ledger.User, error) {
	v, err := c.fresh(ctx)
	if err != nil {
		return nil, err
	}
	u := findUser(v, ref)
	if u == nil || u.Deleted {
		return nil, notFound("user " + ref)
	}
	return u, nil
}
