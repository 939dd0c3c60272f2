package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A Profile is the part of a user's profile that GET /v2/me returns, without name, email and
// time zone.
type Profile struct {
	AvatarURL         string `json:"avatar_url,omitempty"`
	Bio               string `json:"bio,omitempty"`
	TimeFormat        int    `json:"time_format,omitempty"`
	DefaultScheduleID string `json:"default_schedule_id,omitempty"`
	WeekStart         string `json:"week_start,omitempty"`
	Locale            string `json:"locale,omitempty"`
	OrganizationID    string `json:"organization_id,omitempty"`
}

// MaxPasswordChecks is how many questions of a UsersQuery may have a Password. A password is
// hashed to be compared, which takes one or two seconds of a processor for a hash that was
// imported at the highest cost, and more on a busy node. The answer must come within the minute
// that a Caller waits.
const MaxPasswordChecks = 8

// A UsersQuery requests everything that is known of some users, in one view.
type UsersQuery struct {
	Users []UserQuestion `json:"users"`
}

// A UserQuestion names a user by name or id.
type UserQuestion struct {
	User     string `json:"user"`
	Password Plain  `json:"password,omitempty"` // that the user may have
	// PasswordHash is a hash of another system that the user may have.
	PasswordHash Plain `json:"password_hash,omitempty"`
}

// DescribedUsers has those of the users that exist or were deleted.
type DescribedUsers struct {
	Users []DescribedUser `json:"users"`
}

// A DescribedUser is a user with the answers to a UserQuestion.
type DescribedUser struct {
	User
	Asked           string `json:"asked"` // name or id of the question
	PasswordMatches bool   `json:"password_matches,omitempty"`
}

func (c *call) describeUsers(ctx context.Context, q UsersQuery) (DescribedUsers, error) {
	out := DescribedUsers{Users: []DescribedUser{}}
	passwords, hashes := 0, 0
	for _, one := range q.Users {
		switch {
		case one.PasswordHash != "":
			hashes++
		case one.Password != "":
			passwords++
		}
	}
	if passwords > MaxPasswordChecks {
		return out, &Problem{Class: BadRequest, Field: "users", Note: fmt.Sprintf("has more than %d passwords to check", MaxPasswordChecks)}
	}
	if err := c.comparing(passwords+hashes > 0); err != nil {
		return out, err
	}
	v, err := c.fresh(ctx)
	if err != nil {
		return out, err
	}
	for _, one := range q.Users {
		u := findUser(v, one.User)
		if u == nil {
			continue
		}
		d := DescribedUser{User: userOf(u), Asked: one.User}
		// A remote operator may not change an administrator, and not guess at one either.
		switch {
		case u.Password == "" || u.Admin && c.remote():
		case one.PasswordHash != "":
			d.PasswordMatches = u.Password == one.PasswordHash.Reveal()
		case one.Password != "":
			if d.PasswordMatches, err = c.Passwords.Matches(ctx, u.Password, one.Password.Reveal()); err != nil {
				return out, fmt.Errorf("check a password: %w", err)
			}
		}
		out.Users = append(out.Users, d)
	}
	return out, nil
}

// A UserProfile is the name, profile and role of a user.
type UserProfile struct {
	Username string `json:"username"`
	Name     string `json:"name,omitempty"`
	Email    string `json:"email,omitempty"`
	TimeZone string `json:"time_zone,omitempty"`
	Profile
	Admin bool `json:"admin,omitempty"`
}

// Declaration returns the part of a user that a file may declare.
func (u *User) Declaration() UserProfile {
	return UserProfile{Username: u.Username, Name: u.Name, Email: u.Email, TimeZone: u.TimeZone, Profile: u.Profile, Admin: u.Admin}
}

func (p *UserProfile) person() ledger.Person {
	return ledger.Person{
		Email: p.Email, Name: p.Name, TimeZone: p.TimeZone,
		AvatarURL: p.AvatarURL, Bio: p.Bio, TimeFormat: p.TimeFormat, DefaultScheduleID: p.DefaultScheduleID,
		WeekStart: p.WeekStart, Locale: p.Locale, OrganizationID: p.OrganizationID,
	}
}

// A DeclaredUser is what a file of the operator declares a user to be.
type DeclaredUser struct {
	ID string `json:"id,omitempty"` // of a new user: generated if absent
	UserProfile
	Password Plain `json:"password,omitempty"` // "" leaves the password, and gives a new user none
	// PasswordHash is a hash that another system made of the password, instead of Password.
	// It never replaces a password that the user has used or chosen here.
	PasswordHash Plain `json:"password_hash,omitempty"`
	// Seen is what the operator saw of the user; nil means that there was no user.
	Seen *UserProfile `json:"seen,omitempty"`
}

func (c *call) applyUser(ctx context.Context, q DeclaredUser) (Applied, error) {
	subject := "user " + q.Username
	cmd := &ledger.PutUser{
		Actor: c.actor, ID: q.ID, Username: q.Username, Person: q.person(), Admin: q.Admin, New: q.Seen == nil,
	}
	result := Applied{Result: ResultAdded}
	if q.Seen != nil {
		result.Result = ResultChanged
		cmd.Seen = &ledger.UserSeen{Username: q.Seen.Username, Person: q.Seen.person(), Admin: q.Seen.Admin}
	}
	if q.ID == "" {
		made, err := c.newID("u_")
		if err != nil {
			return result, err
		}
		cmd.ID = made
	}
	if q.Password != "" {
		hash, _, err := c.password(ctx, subject, q.Password, q.Username, q.Name, q.Email)
		if err != nil {
			return result, err
		}
		cmd.Password = hash
	}
	if q.PasswordHash != "" {
		var err error
		if cmd.Password, cmd.PasswordCost, err = foreignHash(subject, "password_hash", q.PasswordHash); err != nil {
			return result, err
		}
	}
	result.ID = cmd.ID
	_, err := c.propose(ctx, subject, cmd)
	var p *Problem
	if q.Seen == nil && errors.As(err, &p) && p.Cause == ledger.AlreadyExists {
		if id, same := c.isDeclared(ctx, q); same {
			return Applied{ID: id, Result: ResultUnchanged}, nil // another apply made the user meanwhile
		}
	}
	return result, err
}

// isDeclared reports whether a user is what q declares, and returns the user's id.
func (c *call) isDeclared(ctx context.Context, q DeclaredUser) (id string, same bool) {
	found, err := c.describeUsers(ctx, UsersQuery{Users: []UserQuestion{{User: q.Username, Password: q.Password, PasswordHash: q.PasswordHash}}})
	if err != nil || len(found.Users) == 0 {
		return "", false
	}
	u := &found.Users[0]
	return u.ID, (q.ID == "" || q.ID == u.ID) && u.Declaration() == q.UserProfile && (q.Password == "" && q.PasswordHash == "" || u.PasswordMatches)
}
