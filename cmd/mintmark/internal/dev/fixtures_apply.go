package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
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
	Secret         func(plain string) (ledger.NewSecret, error)
	SecretOfSHA256 func(sum [32]byte) (ledger.NewSecret, error)
	SecretOfHash   func(hash string) (ledger.NewSecret, error)
	SecretDigests  func(sum [32]byte) []ledger.Digest
	Declared       func(text []byte) []string
	Passwords      *credential.Hasher
}

// apply brings the state to what the file declares. An entry that was applied before and
// has not changed is skipped, so later changes of its row stay. All other entries are
// checked against the state before the first is proposed.
func (f *fixtures) apply(ctx context.Context, d fixtureDeps) error {
	v, err := d.Ledger.ViewFresh(ctx)
	if err != nil {
		return fmt.Errorf("%s: read the state: %w", f.file, err)
	}
	steps, err := f.commands(d)
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
			return fmt.Errorf("%s: %s: hash the password: %w", f.file, s.place.Entry, err)
		}
		s.user.Password = hash
	}
	out, _, err := d.Ledger.Propose(ctx, s.command())
	switch {
	case err != nil:
		return fmt.Errorf("%s: %s: %w", f.file, s.place.Entry, err)
	case out.Unknown:
		return fmt.Errorf("%s: %s: %w", f.file, s.place.Entry, admin.ErrOutcomeUnknown)
	case out.Refusal != nil:
		return s.place.Refused(out.Refusal)
	}
	return nil
}

// A fixtureStep is the command of one entry; one of user, client, resource and publisher is set.
type fixtureStep struct {
	place    *declare.Place // for errors
	user     *ledger.PutUser
	password admin.Plain
	client   *ledger.ImportClient
	owner    string // the username of the client's owner
	resource *ledger.ApplyResourceServer

	publisher *ledger.ApplyPublisher
}

func (s fixtureStep) command() command.Command {
	switch {
	case s.user != nil:
		return s.user
	case s.resource != nil:
		return s.resource
	case s.publisher != nil:
		return s.publisher
	}
	return s.client
}

// applied reports whether this very declaration made the row what it was.
func (s fixtureStep) applied(v ledger.View) bool {
	switch {
	case s.user != nil:
		u := v.User(s.user.ID)
		return u != nil && slices.Contains(s.user.Declared, u.Declared)
	case s.resource != nil:
		r := v.ResourceServer(s.resource.ID)
		return r != nil && slices.Contains(s.resource.Declared, r.Declared)
	case s.publisher != nil:
		p := v.Publisher(s.publisher.Host)
		return p != nil && slices.Contains(s.publisher.Declared, p.Declared)
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

// dryRunOn decides the due entries on a scratch state with the rows that they change, so
// that a file with a mistake changes nothing.
func (f *fixtures) dryRunOn(v ledger.View, due []fixtureStep) error {
	scratch := declare.NewScratch()
	for k := range v.Keys() {
		scratch.Insert(ledger.TableKeys, k)
	}
	user := func(u *ledger.User) {
		if u != nil {
			scratch.Insert(ledger.TableUsers, u)
		}
	}
	for i := range f.Users {
		user(v.User(f.Users[i].DefaultID()))
		user(v.UserByName(f.Users[i].Username))
	}
	for _, s := range due {
		if s.resource != nil {
			for _, ref := range []string{s.resource.ID, s.resource.Name} {
				if r := v.ResourceServerNamed(ref); r != nil {
					scratch.Insert(ledger.TableResourceServers, r)
				}
			}
			if r := v.ResourceServer(s.resource.ID); r != nil {
				s.resource.ExpectedLast, s.resource.Manager = r.Last, r.ManagedBy
			}
		}
		if s.publisher != nil {
			if p := v.Publisher(s.publisher.Host); p != nil {
				scratch.Insert(ledger.TablePublishers, p)
				s.publisher.ExpectedLast, s.publisher.Manager = p.Last, p.ManagedBy
			}
		}
		if s.client == nil {
			continue
		}
		s.resolveOwner(v)
		user(v.User(s.client.Owner))
		if c := v.Client(s.client.ID); c != nil {
			scratch.Insert(ledger.TableClients, c)
		}
	}
	for _, s := range due {
		if r := scratch.Do(s.command()); r != nil {
			return s.place.Refused(r)
		}
	}
	return nil
}

// commands returns the commands of all entries, users first, without hashed passwords:
// hashing is slow, and mostly nothing has changed.
func (f *fixtures) commands(d fixtureDeps) ([]fixtureStep, error) {
	var steps []fixtureStep
	for i := range f.Users {
		u := &f.Users[i]
		text, err := json.Marshal(u)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.file, u.Place.Entry, err)
		}
		cost, _ := credential.ForeignHash(u.PasswordHash.Reveal()) // read with a correct one only
		steps = append(steps, fixtureStep{
			place: &u.Place, password: u.Password,
			user: &ledger.PutUser{
				ID: u.DefaultID(), Username: u.Username, Person: u.Person, Admin: u.Admin,
				Password: u.PasswordHash.Reveal(), PasswordCost: cost,
				Declared: d.Declared(append([]byte("user "), text...)),
			},
		})
	}
	for i := range f.Clients {
		c := &f.Clients[i]
		text, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.file, c.Place.Entry, err)
		}
		cmd := c.Import()
		cmd.Declared = d.Declared(append([]byte("client "), text...))
		if u := f.User(c.Owner); u != nil {
			cmd.Owner = u.DefaultID()
		}
		if cmd.Secrets, err = d.digests(c.Secrets); err == nil {
			cmd.Revoked, err = d.digests(c.Revoked)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: digest a secret: %w", f.file, c.Place.Entry, err)
		}
		steps = append(steps, fixtureStep{place: &c.Place, client: cmd, owner: c.Owner})
	}
	for i := range f.ResourceServers {
		r := &f.ResourceServers[i]
		text, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.file, r.Place.Entry, err)
		}
		cmd := r.Apply()
		cmd.Declared = d.Declared(append([]byte("resource server "), text...))
		secrets, err := d.digests(r.Secrets)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: digest a secret: %w", f.file, r.Place.Entry, err)
		}
		for j := range secrets {
			cmd.Secrets = append(cmd.Secrets, ledger.DeclaredSecret{New: secrets[j], Digests: d.SecretDigests(r.Secrets[j].Sum())})
		}
		steps = append(steps, fixtureStep{place: &r.Place, resource: cmd})
	}
	for i := range f.Publishers {
		p := &f.Publishers[i]
		text, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.file, p.Place.Entry, err)
		}
		cmd := p.Apply()
		cmd.Declared = d.Declared(append([]byte("publisher "), text...))
		steps = append(steps, fixtureStep{place: &p.Place, publisher: cmd})
	}
	return steps, nil
}

func (d fixtureDeps) digests(secrets []declare.Secret) ([]ledger.NewSecret, error) {
	var all []ledger.NewSecret
	for i := range secrets {
		make := func() (ledger.NewSecret, error) { return d.SecretOfSHA256(secrets[i].Sum()) }
		if text := secrets[i].Text; text != "" {
			make = func() (ledger.NewSecret, error) { return d.Secret(text.Reveal()) }
		} else if hash := secrets[i].Hash; hash != "" {
			make = func() (ledger.NewSecret, error) { return d.SecretOfHash(hash.Reveal()) }
		}
		s, err := make()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
