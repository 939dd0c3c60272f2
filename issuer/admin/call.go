package admin

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A call is one operation in progress.
type call struct {
	Config
	actor    ledger.Actor
	operator string  // who the operator is, as in the audit trail; "" for a local one
	name     string  // of the operation; "" if there is none
	admitted bool    // the operator is authenticated, or on this machine
	stale    bool    // the view that was read may lag
	proposed bool    // a change was made
	subject  string  // of the change
	stream   *stream // for a download

	// mayCompare refuses an operator on another machine without the scope route.compares. It is
	// nil for one on this machine, and where the scope of the route suffices.
	mayCompare func() error
}

// comparing is called before secrets are compared with stored ones; asked is false if the
// request has none.
func (c *call) comparing(asked bool) error {
	if !asked || c.mayCompare == nil {
		return nil
	}
	return c.mayCompare()
}

// view returns a view for display. If no fresh view is available, it returns this node's state,
// since operators need to see something during an outage.
func (c *call) view(ctx context.Context) (ledger.View, error) {
	v, err := c.Ledger.ViewFresh(ctx)
	if errors.Is(err, oauth.ErrUnavailable) {
		c.stale = true
		return c.Ledger.View(), nil
	}
	if err != nil {
		return v, fmt.Errorf("read: %w", err)
	}
	return v, nil
}

// fresh returns a view to base a change on.
func (c *call) fresh(ctx context.Context) (ledger.View, error) {
	v, err := c.Ledger.ViewFresh(ctx)
	if err != nil {
		return v, fmt.Errorf("read: %w", err)
	}
	return v, nil
}

// propose has a command decided. Everything but an acceptance is an error.
func (c *call) propose(ctx context.Context, subject string, cmd command.Command) (ledger.Outcome, error) {
	out, _, err := c.Ledger.Propose(ctx, cmd)
	switch {
	case err != nil:
		return out, fmt.Errorf("propose: %w", err)
	case out.Unknown:
		return out, fmt.Errorf("propose: %w", oauth.ErrOutcomeUnknown)
	case out.Refusal != nil:
		return out, refusal(subject, out.Refusal)
	}
	c.proposed, c.subject = true, subject
	return out, nil
}

// remote reports whether the operator is on another machine.
func (c *call) remote() bool { return c.actor.Token != "" || c.actor.Certificate != "" }

// record records an operation of an operator on another machine in the audit trail, before
// it begins. Operations that are a command of the ledger have an event of their own.
func (c *call) record(ctx context.Context, subject string) error {
	if !c.remote() {
		return nil
	}
	_, err := c.propose(ctx, subject, &ledger.RecordOperation{Actor: c.actor, Operation: c.name + " " + subject})
	c.proposed = false
	return err
}

// newID returns 120 random bits, in letters and digits that need no escaping in a shell or URL.
func (c *call) newID(prefix string) (string, error) {
	var b [15]byte
	if _, err := io.ReadFull(c.Rand, b[:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return prefix + strings.ToLower(base32.StdEncoding.EncodeToString(b[:])), nil
}

// maxSecret is the maximum length of a secret that was chosen elsewhere, in bytes.
const maxSecret = 1024

// secret returns the digest of the secret in a request, or of a generated one, which it returns
// too, to be shown once.
func (c *call) secret(subject string, given Plain) (ledger.NewSecret, Plain, error) {
	plain, shown := given.Reveal(), Plain("")
	if plain == "" {
		plain = credential.NewSecret(c.Rand).Reveal()
		shown = Plain(plain)
	}
	if len(plain) > maxSecret {
		return ledger.NewSecret{}, "", badField(subject, "secret", "is longer than 1,024 bytes")
	}
	s, err := c.Secret(plain)
	if err != nil {
		return s, "", fmt.Errorf("digest a secret: %w", err)
	}
	return s, shown, nil
}

// password returns the hash of the password in a request. If there is none, it generates
// a password and returns that too, to be shown once. names are the user's names, which
// the password must not resemble: see credential.PasswordFault.
func (c *call) password(ctx context.Context, subject string, given Plain, names ...string) (string, Plain, error) {
	plain, shown := given.Reveal(), Plain("")
	if plain == "" {
		generated, err := c.newID("")
		if err != nil {
			return "", "", err
		}
		plain, shown = generated, Plain(generated)
	} else if fault := credential.PasswordFault(plain, names...); fault != "" {
		return "", "", badField(subject, "password", fault)
	}
	hash, err := c.Passwords.Hash(ctx, plain)
	if err != nil {
		return "", "", fmt.Errorf("hash a password: %w", err)
	}
	return hash, shown, nil
}

// foreignHash returns a hash that another system made, and its cost.
func foreignHash(subject, field string, given Plain) (string, ledger.HashCost, error) {
	cost, fault := credential.ForeignHash(given.Reveal())
	if fault != "" {
		return "", cost, badField(subject, field, fault)
	}
	return given.Reveal(), cost, nil
}

// secretOfHash returns what the ledger records of a secret that another system hashed.
func (c *call) secretOfHash(subject, field string, given Plain) (ledger.NewSecret, error) {
	hash, _, err := foreignHash(subject, field, given)
	if err != nil {
		return ledger.NewSecret{}, err
	}
	s, err := c.SecretOfHash(hash)
	if err != nil {
		return s, fmt.Errorf("record a hashed secret: %w", err)
	}
	return s, nil
}

// findUser returns the user with an id or name, or nil.
func findUser(v ledger.View, ref string) *ledger.User {
	if u := v.User(ref); u != nil {
		return u
	}
	return v.UserByName(ref)
}

// userName returns the user name for display, or the id if the user no longer has a name.
func userName(v ledger.View, id string) string {
	if u := v.User(id); u != nil && u.Username != "" {
		return u.Username
	}
	return id
}

// stdTime returns t for JSON; zero, which is omitted, if there is no time.
func stdTime(t ledger.Time) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return t.Std()
}
