package ledger

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// An OperatorToken authenticates an operator on another machine.
type OperatorToken struct {
	ID      string          `cbor:"1,keyasint"` // derived from the token, which its holder can't invert
	Name    string          `cbor:"2,keyasint"` // unique among the valid tokens
	Key     uint32          `cbor:"3,keyasint"` // number of the credential key of Digest
	Digest  [32]byte        `cbor:"4,keyasint"` // keyed, like that of a client secret
	Scopes  []OperatorScope `cbor:"5,keyasint"` // in the order of OperatorScopes
	Created Time            `cbor:"6,keyasint"`
	Expires Time            `cbor:"7,keyasint"`
	Revoked Time            `cbor:"8,keyasint,omitempty"`
	Used    Time            `cbor:"9,keyasint,omitempty"` // last use, with the resolution of usedEvery
	Last    command.ID      `cbor:"10,keyasint"`
}

// An OperatorScope is a group of operations that a token or a certificate may be used for.
// No scope includes another.
type OperatorScope string

// The scopes.
const (
	ScopeRead     OperatorScope = "read"
	ScopeClients  OperatorScope = "clients"
	ScopeUsers    OperatorScope = "users"
	ScopeSettings OperatorScope = "settings"
	ScopeCluster  OperatorScope = "cluster"
)

// OperatorScopes are all scopes.
var OperatorScopes = []OperatorScope{ScopeRead, ScopeClients, ScopeUsers, ScopeSettings, ScopeCluster}

const (
	// MaxOperatorTokenLifetime is the longest lifetime of a token.
	MaxOperatorTokenLifetime = 365 * 24 * time.Hour
	// MaxOperatorTokens is the maximum number of valid tokens.
	MaxOperatorTokens = 100

	// maxOldTokens is how many rows of expired and revoked tokens are kept.
	maxOldTokens = 100
	// usedEvery is the resolution of OperatorToken.Used. Each update is a log entry.
	usedEvery = Time(time.Hour / time.Millisecond)

	maxOperatorName = 64

	// The beginning of Event.Actor for operators on other machines. Ids of users and clients
	// have no colon.
	tokenActor       = "token:"
	certificateActor = "certificate:"
)

// OperatorToken returns a token, expired and revoked ones included, or nil.
func (v View) OperatorToken(id string) *OperatorToken {
	return first[OperatorToken](v, TableOperatorTokens, indexID, id)
}

// OperatorTokens returns all tokens by id, expired and revoked ones included.
func (v View) OperatorTokens() iter.Seq[*OperatorToken] {
	return rowsFrom[OperatorToken](v, TableOperatorTokens, "")
}

// OperatorTokenCause returns why a token is not valid at a time, or NoCause. t may be nil.
func (v View) OperatorTokenCause(t *OperatorToken, at Time) Cause {
	switch {
	case t == nil:
		return OperatorTokenUnknown
	case t.Revoked != 0:
		return OperatorTokenRevoked
	case at >= t.Expires:
		return OperatorTokenExpired
	case !v.keyKnown(t.Key):
		return OperatorTokenUnknown
	}
	return NoCause
}

// endedAt returns the time from which on the token is not valid.
func (t *OperatorToken) endedAt() Time { return min(cmp.Or(t.Revoked, t.Expires), t.Expires) }

// UseDue reports whether a RecordOperation should update t.Used.
func (t *OperatorToken) UseDue(at Time) bool { return at >= t.Used+usedEvery }

func (t *OperatorToken) revoked(at Time, m command.Meta) *OperatorToken {
	next := *t
	next.Revoked, next.Last = at, m.ID
	return &next
}

// ValidOperatorName reports whether s is valid as the name of a token, or in a certificate
// of an operator.
func ValidOperatorName(s string) bool { return checkOperatorName(s) == "" }

func checkOperatorName(s string) string {
	if len(s) > maxOperatorName {
		return "must have 1 to 64 characters"
	}
	return checkID(s)
}

// AddOperatorToken adds a token. Only an operator at a node's own machine may send it.
type AddOperatorToken struct {
	ID     string          `cbor:"1,keyasint"`
	Name   string          `cbor:"2,keyasint"`
	Key    uint32          `cbor:"3,keyasint"`
	Digest [32]byte        `cbor:"4,keyasint"`
	Scopes []OperatorScope `cbor:"5,keyasint"`
	// Lifetime is at most MaxOperatorTokenLifetime, from the time of the command.
	Lifetime time.Duration `cbor:"6,keyasint"`
	Actor    Actor         `cbor:"7,keyasint"`
}

// Kind implements command.Command.
func (*AddOperatorToken) Kind() command.Kind { return KindAddOperatorToken }

// Decide refuses a name that a valid token has. It removes the rows of the tokens that
// ended first, if there are too many.
func (c *AddOperatorToken) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyOperator(c.Actor, m)
	switch {
	case cause != NoCause:
		return deny(cause)
	case who.remote != "":
		return deny(LocalOnly)
	}
	if old := v.OperatorToken(c.ID); old != nil {
		if old.Last == m.ID {
			return accept(Outcome{ID: c.ID})
		}
		return deny(AlreadyExists)
	}
	if field, note := c.check(v); field != "" {
		return badField(field, note)
	}
	var ended []*OperatorToken
	valid := 0
	for t := range v.OperatorTokens() {
		switch {
		case v.OperatorTokenCause(t, stateTime(m)) != NoCause:
			ended = append(ended, t)
			continue
		case t.Name == c.Name:
			return exists("name", "is that of a valid token")
		}
		valid++
	}
	if valid >= MaxOperatorTokens {
		return deny(TooManyOperatorTokens)
	}
	t := &OperatorToken{
		ID: c.ID, Name: c.Name, Key: c.Key, Digest: c.Digest, Scopes: sortedScopes(c.Scopes),
		Created: stateTime(m), Expires: stateTime(m).Add(c.Lifetime), Last: m.ID,
	}
	changes := []command.Change{put(TableOperatorTokens, t), event(m, Event{
		Kind: EventOperatorTokenAdded, Actor: who.name(), Detail: t.ID + " " + t.Name + ": " + t.ScopeList(),
	})}
	slices.SortStableFunc(ended, func(a, b *OperatorToken) int { return cmp.Compare(a.endedAt(), b.endedAt()) })
	for _, old := range ended[:max(0, len(ended)-maxOldTokens)] {
		changes = append(changes, remove(TableOperatorTokens, old))
	}
	return accept(Outcome{ID: t.ID}, changes...)
}

func (c *AddOperatorToken) check(v View) (field, note string) {
	switch {
	case checkID(c.ID) != "" || !v.keyKnown(c.Key):
		return "token", "is not complete"
	case checkOperatorName(c.Name) != "":
		return "name", checkOperatorName(c.Name)
	case len(c.Scopes) == 0:
		return "scopes", "is empty"
	case c.Lifetime < time.Minute || c.Lifetime > MaxOperatorTokenLifetime:
		return "lifetime", "must be from 1m to 365d"
	}
	for _, s := range c.Scopes {
		if !slices.Contains(OperatorScopes, s) {
			return "scopes", "may hold read, clients, users, settings and cluster only"
		}
	}
	return "", ""
}

// sortedScopes returns each scope once.
func sortedScopes(given []OperatorScope) (list []OperatorScope) {
	for _, s := range OperatorScopes {
		if slices.Contains(given, s) {
			list = append(list, s)
		}
	}
	return list
}

// ScopeList returns the scopes of t, separated by spaces.
func (t *OperatorToken) ScopeList() string {
	words := make([]string, len(t.Scopes))
	for i, s := range t.Scopes {
		words[i] = string(s)
	}
	return strings.Join(words, " ")
}

// RevokeOperatorToken revokes a token. The revocation takes effect on every node before the
// response is sent.
type RevokeOperatorToken struct {
	ID    string `cbor:"1,keyasint"`
	Actor Actor  `cbor:"2,keyasint"`
}

// Kind implements command.Command.
func (*RevokeOperatorToken) Kind() command.Kind { return KindRevokeOperatorToken }

// Decide also accepts a token that was revoked before.
func (c *RevokeOperatorToken) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old := v.OperatorToken(c.ID)
	if old != nil && old.Last == m.ID {
		return accept(Outcome{ID: c.ID}) // it may have revoked the token that sent it
	}
	who, cause := v.identifyOperator(c.Actor, m)
	switch {
	case cause != NoCause:
		return deny(cause)
	case old == nil:
		return deny(NotFound)
	case old.Revoked != 0:
		return accept(Outcome{ID: c.ID})
	}
	return accept(Outcome{ID: c.ID}, put(TableOperatorTokens, old.revoked(stateTime(m), m)),
		event(m, Event{Kind: EventOperatorTokenRevoked, Actor: who.name(), Detail: old.ID + " " + old.Name}))
}

// RecordOperation records an operation of an operator on another machine that is not a
// command of this package, before the operation begins, or after it for one without which
// nothing can be decided. It also updates OperatorToken.Used.
type RecordOperation struct {
	Actor Actor `cbor:"1,keyasint"`
	// Operation is the name of the operation, and what it concerns; "" updates
	// OperatorToken.Used only.
	Operation string `cbor:"2,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*RecordOperation) Kind() command.Kind { return KindRecordOperation }

// Decide changes nothing if the token was used recently and no operation is named. A command
// that is proposed again may write its event again: no row has the operations that were
// recorded.
func (c *RecordOperation) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyOperator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	var changes []command.Change
	if t := v.OperatorToken(c.Actor.Token); t != nil && t.UseDue(stateTime(m)) {
		next := *t
		next.Used, next.Last = stateTime(m), m.ID
		changes = append(changes, put(TableOperatorTokens, &next))
	}
	if c.Operation != "" {
		changes = append(changes, event(m, Event{Kind: EventOperation, Actor: who.name(), Detail: clip(c.Operation, 200)}))
	}
	return accept(Outcome{}, changes...)
}
