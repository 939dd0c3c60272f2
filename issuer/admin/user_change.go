package admin

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A UserStateChange enables, disables or deletes an account, or grants or removes the
// role of an administrator.
type UserStateChange struct {
	User  string `json:"user"`
	State string `json:"state"` // enable, disable, delete, promote, demote or sign-out
}

func (c *call) setUserState(ctx context.Context, q UserStateChange) (User, error) {
	u, err := c.freshUser(ctx, q.User)
	if err != nil {
		return User{}, err
	}
	_, err = c.propose(ctx, "user "+q.User, &ledger.SetUserState{Actor: c.actor, User: u.ID, State: ledger.UserState(q.State)})
	if err != nil {
		return User{}, err
	}
	return c.showUser(ctx, UserRef{u.ID})
}

// A PasswordChange sets a password, or has one generated.
type PasswordChange struct {
	User     string `json:"user"`
	Password Plain  `json:"password,omitempty"`
}

// A ChangedPassword has the password only if it was generated.
type ChangedPassword struct {
	ID       string `json:"id"`
	Password Plain  `json:"password,omitempty"`
}

func (c *call) setPassword(ctx context.Context, q PasswordChange) (ChangedPassword, error) {
	u, err := c.freshUser(ctx, q.User)
	if err != nil {
		return ChangedPassword{}, err
	}
	subject := "user " + q.User
	hash, made, err := c.password(ctx, subject, q.Password, u.Username, u.Person.Name, u.Person.Email)
	if err != nil {
		return ChangedPassword{}, err
	}
	if _, err := c.propose(ctx, subject, &ledger.SetPassword{Actor: c.actor, User: u.ID, Password: hash}); err != nil {
		return ChangedPassword{}, err
	}
	return ChangedPassword{ID: u.ID, Password: made}, nil
}
