package apply

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Errors of entries, each with its place.
var (
	ErrNoSecret     = errors.New("is new, and its entry names no secret")
	ErrOtherManager = errors.New("is managed under another name")
	ErrFixturesOnly = errors.New("is for fixtures only")
	ErrSecretGone   = errors.New("was revoked, and never becomes active again")
)

// wrapped returns an error about an entry that wraps a sentinel.
func wrapped(place *declare.Place, field string, sentinel error, more string) error {
	return &placedError{place.Errorf(field, "%s", strings.TrimSpace(sentinel.Error()+" "+more)), sentinel}
}

type placedError struct{ text, sentinel error }

func (e *placedError) Error() string { return e.text.Error() }
func (e *placedError) Unwrap() error { return e.sentinel }

func (p *planner) client(c *declare.Client) {
	if c.Place.Named("revoked_secrets") {
		p.refuse(wrapped(&c.Place, "revoked_secrets", ErrFixturesOnly, ""))
		return
	}
	set, _ := scope.Of(c.Scopes...) // read with known scopes only
	q := &admin.DeclaredClient{
		ID: c.ID, Owner: c.Owner, Type: c.Type, State: c.State, Legacy: c.Legacy,
		Name: c.Name, Purpose: c.Purpose, Website: c.Website, PrivacyURL: c.PrivacyURL, TermsURL: c.TermsURL,
		RedirectURIs: c.RedirectURIs, Scopes: set.Names(),
		Manager: p.Manager, Adopt: p.Adopt, Confirm: true, // the plan warns
	}
	step := Step{Action: Add, Kind: KindClient, ID: c.ID, client: q}
	have := p.state.Clients[c.ID]
	switch {
	case have == nil:
		step.Fields = p.newClient(c, q)
	case have.State == string(ledger.Deleted):
		p.refuse(c.Place.Errorf("id", "is that of a deleted client, and can not be used again"))
		return
	default:
		step.Action = Change
		q.Revision = have.Revision
		step.Fields = p.changedClient(c, q, have)
		if len(step.Fields) > 0 && len(have.Difference) > 0 {
			p.warn(step.Subject(), "the changes that its owner proposed are dropped")
		}
	}
	p.step(step)
}

func (p *planner) newClient(c *declare.Client, q *admin.DeclaredClient) (f fields) {
	p.owner(c, q, nil, &f)
	f.text("name", "", q.Name)
	f.text("purpose", "", q.Purpose)
	f.text("website", "", q.Website)
	f.text("privacy_url", "", q.PrivacyURL)
	f.text("terms_url", "", q.TermsURL)
	f.text("type", "", q.Type)
	f.text("state", "", q.State)
	if q.Legacy {
		f.text("legacy", "", "true")
	}
	f.list("redirect_uris", nil, q.RedirectURIs)
	f.list("scopes", nil, q.Scopes)
	switch {
	case c.Place.NamesSecrets():
		q.Secrets = p.secrets(&c.Place, c.Secrets, nil, nil, &f)
	case q.Type == string(ledger.Confidential):
		p.refuse(wrapped(&c.Place, "", ErrNoSecret, ""))
	}
	return f
}

func (p *planner) changedClient(c *declare.Client, q *admin.DeclaredClient, have *admin.DescribedClient) (f fields) {
	legacy := have.Kind == "legacy"
	switch {
	case have.Type != q.Type:
		p.refuse(c.Place.Errorf("type", "never changes; it is %s", have.Type))
	case q.Legacy && !legacy:
		p.refuse(c.Place.Errorf("legacy", "never returns to a client that has scopes"))
	case have.ManagedBy != "" && have.ManagedBy != p.Manager && !p.Adopt:
		p.refuse(wrapped(&c.Place, "", ErrOtherManager, "("+have.ManagedBy+")"))
	}
	p.owner(c, q, have, &f)
	f.text("name", have.Name, q.Name)
	f.text("purpose", have.Purpose, q.Purpose)
	f.text("website", have.Website, q.Website)
	f.text("privacy_url", have.PrivacyURL, q.PrivacyURL)
	f.text("terms_url", have.TermsURL, q.TermsURL)
	f.list("redirect_uris", have.RedirectURIs, q.RedirectURIs)
	f.list("scopes", have.Scopes, q.Scopes)
	state := q.State
	if state == "" {
		state = string(ledger.Approved)
		if have.State == string(ledger.Suspended) {
			state = have.State // a file that says nothing of it does not end a suspension
		}
	}
	f.text("state", have.State, state)
	if legacy && !q.Legacy {
		f.text("legacy", "true", strconv.FormatBool(q.Legacy))
		if t := have.Traffic; t != nil && t.WithoutScope > 0 {
			p.warn("client "+c.ID, fmt.Sprintf("%d authorizations of the last 30 days came without scope; users who follow such a link meet an error", t.WithoutScope))
		}
	}
	if c.Place.NamesSecrets() {
		q.Secrets = p.secrets(&c.Place, c.Secrets, have.Secrets, have.SecretIDs, &f)
		q.ActiveSecrets = activeIDs(have.Secrets)
		if len(q.ActiveSecrets) > 0 && len(c.Secrets) == 0 {
			p.refuse(c.Place.Errorf("secrets", "has none: the last active secret can only be replaced"))
		}
	}
	if p.Adopt {
		f.text("managed_by", have.ManagedBy, p.Manager)
	}
	return f
}

// owner compares the owner. It may be a user whom the files make, and one who can't own
// anything any more may stay what he is.
func (p *planner) owner(c *declare.Client, q *admin.DeclaredClient, have *admin.DescribedClient, f *fields) {
	before, owner := "", p.state.Users[c.Owner]
	if have != nil {
		before = have.Owner
	}
	if u := p.declared.User(c.Owner); u != nil {
		existing, err := p.existing(u)
		if err != nil {
			return // reported with the user
		}
		if owner = existing; owner == nil { // it is made before the client
			f.text("owner", before, u.Username)
			return
		}
	}
	switch {
	case have != nil && (c.Owner == have.OwnerID || owner != nil && owner.ID == have.OwnerID):
		q.Owner = have.OwnerID
	case owner == nil:
		p.refuse(c.Place.Errorf("owner", "is not a user"))
	case owner.State != enabled:
		p.refuse(c.Place.Errorf("owner", "is not a user: the account is %s", owner.State))
	default:
		q.Owner = owner.ID // the name may be one that this plan changes
		f.text("owner", before, owner.Username)
	}
}

// secrets compares the secrets that an entry names with those of its client or resource
// server, and returns them. They are named by their key in the file, and by the id that the
// row has; ids are those of the declared ones, "" for one that the row does not have.
func (p *planner) secrets(place *declare.Place, named []declare.Secret, have []admin.Secret, ids []string, f *fields) *[]admin.DeclaredSecret {
	declared := make([]admin.DeclaredSecret, 0, len(named))
	kept := map[string]bool{}
	one := Field{Name: "secrets"}
	for i := range named {
		s := &named[i]
		declared = append(declared, s.Declared())
		if i >= len(ids) || ids[i] == "" {
			one.Added = append(one.Added, "the one of "+s.Field)
			continue
		}
		kept[ids[i]] = true
	}
	for _, s := range have {
		switch {
		case s.State != revoked:
			if !kept[s.ID] {
				one.Removed = append(one.Removed, s.ID)
			}
		case kept[s.ID]:
			for i, id := range ids {
				if id == s.ID {
					p.refuse(wrapped(place, named[i].Field, ErrSecretGone, "("+s.ID+")"))
				}
			}
		}
	}
	if len(one.Added)+len(one.Removed) > 0 {
		*f = append(*f, one)
	}
	return &declared
}

// activeIDs returns the ids of the secrets that were not revoked.
func activeIDs(secrets []admin.Secret) (ids []string) {
	for _, s := range secrets {
		if s.State != revoked {
			ids = append(ids, s.ID)
		}
	}
	return ids
}
