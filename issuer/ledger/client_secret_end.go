package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Bounds of the time from now to the end of a secret: an end is planned for a rotation that has
// begun.
const (
	MinSecretEnd = time.Hour
	MaxSecretEnd = 90 * 24 * time.Hour

	secretEndBounds = "must be from 1h to 90d"
)

func secretEndAllowed(d time.Duration) bool { return d >= MinSecretEnd && d <= MaxSecretEnd }

// SetSecret renames an active secret of a client, or plans or cancels its end.
type SetSecret struct {
	Actor  Actor  `cbor:"1,keyasint"`
	Client string `cbor:"2,keyasint"`
	Secret string `cbor:"3,keyasint"` // the secret's id
	// Name is the new name; nil leaves it.
	Name *string `cbor:"4,keyasint,omitempty"`
	// EndsIn is the time from now after which the secret is revoked, from MinSecretEnd to
	// MaxSecretEnd, or 0 to cancel its end; nil leaves it.
	EndsIn *time.Duration `cbor:"5,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*SetSecret) Kind() command.Kind { return KindSetSecret }

// Decide refuses an end of the only active secret, as RevokeSecret refuses its revocation.
func (c *SetSecret) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old, who, refused, ok := v.managedClient(c.Actor, c.Client, m)
	if !ok {
		return refused
	}
	s := old.SecretOf(c.Secret)
	switch {
	case old.Last == m.ID:
		return accept(Outcome{ID: c.Secret})
	case s == nil:
		return deny(NotFound)
	case !s.Active():
		return deny(WrongState)
	}
	set := *s
	if c.Name != nil {
		if note := checkText(*c.Name, 0, MaxSecretName); note != "" {
			return badField("name", note)
		}
		set.Name = *c.Name
	}
	switch {
	case c.EndsIn == nil:
	case *c.EndsIn == 0:
		set.Ends = 0
	case !secretEndAllowed(*c.EndsIn):
		return badField("ends", secretEndBounds)
	case old.ActiveSecrets() == 1:
		return deny(LastSecret)
	default:
		set.Ends = stateTime(m).Add(*c.EndsIn)
	}
	changes := secretDifferences(s, &set, "")
	if len(changes) == 0 {
		return accept(Outcome{ID: c.Secret})
	}
	next := old.changed(m)
	next.Secrets = slices.Clone(old.Secrets)
	next.Secrets[next.Secrets.index(c.Secret)] = set
	return accept(Outcome{ID: c.Secret, Count: 1}, put(TableClients, next),
		event(m, Event{Kind: EventSecretEdited, Actor: who.name(), Client: old.ID, User: old.Owner, Detail: c.Secret + " " + strings.Join(changes, "; ")}))
}

// secretDifferences returns the differences between two versions of a secret that an owner
// decides on, as the audit trail has them. Their fields begin with a prefix.
func secretDifferences(old, next *Secret, prefix string) []string {
	var all differences
	all.text(prefix+"name", old.Name, next.Name)
	all.text(prefix+"ends", old.Ends.text(), next.Ends.text())
	return all
}

// text returns t as RFC 3339 in UTC, or "" for 0.
func (t Time) text() string {
	if t == 0 {
		return ""
	}
	return t.Std().Format(time.RFC3339)
}

// endingKey is the index key: the earliest end first, none for a client without one.
func (c *Client) endingKey() []string {
	var ends Time
	for i := range c.Secrets {
		if s := &c.Secrets[i]; s.Ends != 0 && (ends == 0 || s.Ends < ends) {
			ends = s.Ends
		}
	}
	if ends == 0 {
		return nil
	}
	return []string{timeKey(ends)}
}

// secretDue reports whether a secret of a client is to be revoked at a time: its end has come,
// and the application can authenticate by another one.
func (v View) secretDue(c *Client, s *Secret, at Time) bool {
	return s.Ends != 0 && s.Ends <= at &&
		slices.ContainsFunc(c.Secrets, func(other Secret) bool { return other.ID != s.ID && other.usable(v.keyKnown) })
}

// A DueSecret is a secret of a client whose end has come.
type DueSecret struct{ Client, Secret string }

// DueSecrets returns at most that many secrets that a RevokeSecret.Due revokes at a time.
func (v View) DueSecrets(at Time, most int) (due []DueSecret) {
	for c := range scanFrom[Client](v, TableClients, "ending", false) {
		if len(due) >= most || c.endingKey()[0] > timeKey(at) {
			break
		}
		for i := range c.Secrets {
			if s := &c.Secrets[i]; v.secretDue(c, s, at) {
				due = append(due, DueSecret{c.ID, s.ID})
				break // the other one is the last one then
			}
		}
	}
	return due
}
