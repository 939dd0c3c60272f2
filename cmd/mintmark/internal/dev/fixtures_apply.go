package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// fixtureDeps is what applying fixtures needs of an issuer.
type fixtureDeps struct {
	Ledger interface {
		ViewFresh(ctx context.Context) (ledger.View, error)
		Propose(ctx context.Context, c command.Command) (ledger.Outcome, uint64, error)
	}
	Secret    func(plain string) (ledger.NewSecret, error)
	Declared  func(text []byte) []string
	Passwords *credential.Hasher
}

// apply brings the state to what the file declares. An entry that was applied before and
// has not changed is skipped, so later changes of its row stay. All other entries are
// checked against the state before the first is proposed.
func (f *fixtures) apply(ctx context.Context, d fixtureDeps) error {
	v, err := d.Ledger.ViewFresh(ctx)
	if err != nil {
		return fmt.Errorf("%s: read the state: %w", f.file, err)
	}
	steps, err := f.commands(d.Declared, d.Secret)
	if err != nil {
		return err
	}
	var due []fixtureStep
	for _, s := range steps {
		if !s.applied(v) {
			due = append(due, s)
		}
	}
	if err := f.dryRunOn(v, due); err != nil {
		return err
	}
	for _, s := range due {
		if err := f.do(ctx, d, s); err != nil {
			return err
		}
	}
	return nil
}

func (f *fixtures) do(ctx context.Context, d fixtureDeps, s fixtureStep) error {
	if s.user != nil && s.password != "" {
		hash, err := d.Passwords.Hash(ctx, s.password.Reveal())
		if err != nil {
			return fmt.Errorf("%s: %s: hash the password: %w", f.file, s.entry, err)
		}
		s.user.Password = hash
	}
	out, _, err := d.Ledger.Propose(ctx, s.command())
	switch {
	case err != nil:
		return fmt.Errorf("%s: %s: %w", f.file, s.entry, err)
	case out.Unknown:
		return fmt.Errorf("%s: %s: whether it was applied can't be told; start again", f.file, s.entry)
	case out.Refusal != nil:
		return f.refused(s.entry, out.Refusal)
	}
	return nil
}

// A fixtureStep is the command of one entry; either user or client is set.
type fixtureStep struct {
	entry    string // for errors: "client cal-app"
	user     *ledger.PutUser
	password admin.Plain
	client   *ledger.ImportClient
	owner    string // the username of the client's owner
}

func (s fixtureStep) command() command.Command {
	if s.user != nil {
		return s.user
	}
	return s.client
}

// applied reports whether this very declaration made the row what it was.
func (s fixtureStep) applied(v ledger.View) bool {
	if s.user != nil {
		u := v.User(s.user.ID)
		return u != nil && slices.Contains(s.user.Declared, u.Declared)
	}
	c := v.Client(s.client.ID)
	return c != nil && slices.Contains(s.client.Declared, c.Declared)
}

// resolveOwner fills in the owner's id where the owner is a user of the state and
// not of the file.
func (s fixtureStep) resolveOwner(v ledger.View) {
	if s.client == nil || s.client.Owner != "" {
		return
	}
	if u := v.UserByName(s.owner); u != nil {
		s.client.Owner = u.ID
	}
}

// commands returns the commands of all entries, users first, without hashed passwords:
// hashing is slow, and mostly nothing has changed.
func (f *fixtures) commands(declared func([]byte) []string, secret func(string) (ledger.NewSecret, error)) ([]fixtureStep, error) {
	var steps []fixtureStep
	for _, u := range f.users {
		text, err := json.Marshal(u)
		if err != nil {
			return nil, fmt.Errorf("%s: user %s: %w", f.file, u.Username, err)
		}
		steps = append(steps, fixtureStep{
			entry: "user " + u.Username, password: u.Password,
			user: &ledger.PutUser{
				ID: u.ID, Username: u.Username, Person: u.Person, Admin: u.Admin,
				Declared: declared(append([]byte("user "), text...)),
			},
		})
	}
	for _, c := range f.clients {
		entry := "client " + c.ID
		text, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.file, entry, err)
		}
		cmd := &ledger.ImportClient{
			ID: c.ID, Owner: f.userID(c.Owner), Type: ledger.ClientType(c.Type), State: ledger.ClientState(c.State), Legacy: c.Legacy,
			Profile: ledger.Profile{
				Name: c.Name, Purpose: c.Purpose, Website: c.Website, RedirectURIs: c.RedirectURIs, Scopes: c.Scopes,
			},
			Declared: declared(append([]byte("client "), text...)),
		}
		if cmd.Secrets, err = digests(c.Secrets, secret); err == nil {
			cmd.Revoked, err = digests(c.Revoked, secret)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: digest a secret: %w", f.file, entry, err)
		}
		steps = append(steps, fixtureStep{entry: entry, client: cmd, owner: c.Owner})
	}
	return steps, nil
}

func digests(plain []admin.Plain, secret func(string) (ledger.NewSecret, error)) ([]ledger.NewSecret, error) {
	var all []ledger.NewSecret
	for _, p := range plain {
		s, err := secret(p.Reveal())
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
