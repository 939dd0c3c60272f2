package ledger

import (
	"iter"
	"slices"
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// A ResourceServer is a registered resource server (RFC 6749 §1.1). By a secret it may
// introspect access tokens and read the feed of revocations.
type ResourceServer struct {
	ID   string `cbor:"1,keyasint"` // identifier URI (RFC 8707 §2): see oauth.CheckResource
	Name string `cbor:"2,keyasint"` // unique, ignoring case; an identifier that needs no escaping
	// Scopes are the scopes that the server uses, in catalogue order. An introspection shows
	// it no others. None means every scope.
	Scopes  []string   `cbor:"3,keyasint,omitempty"`
	Secrets Secrets    `cbor:"4,keyasint,omitempty"`
	Created Time       `cbor:"5,keyasint"`
	Changed Time       `cbor:"6,keyasint"`
	Last    command.ID `cbor:"7,keyasint"` // the last command that changed this row
	// Number is unique among the registered resource servers. The number of a removed one is
	// used again: see View.ResourceServerOf.
	Number     uint16 `cbor:"8,keyasint"`
	CreatedSeq uint64 `cbor:"9,keyasint"` // Meta.Seq of the registration

	ManagedBy string `cbor:"10,keyasint,omitempty"` // like Client.ManagedBy
	Declared  string `cbor:"11,keyasint,omitempty"` // like Client.Declared
}

// maxResources is the maximum number of resource servers.
const maxResources = 1000

// MaxResourceName is the maximum length of the name of a resource server.
const MaxResourceName = 63

// ActiveSecrets returns the number of active secrets.
func (s *ResourceServer) ActiveSecrets() int { return s.Secrets.active() }

// NewestSecret is like Client.NewestSecret.
func (s *ResourceServer) NewestSecret() string { return s.Secrets.newest() }

// SecretOf returns the secret with an id, or nil if the row doesn't have it.
func (s *ResourceServer) SecretOf(id string) *Secret { return s.Secrets.of(id) }

// changed returns a copy of s for a command to change. Slices are shared with s.
func (s *ResourceServer) changed(m command.Meta) *ResourceServer {
	next := *s
	next.Last, next.Changed = m.ID, stateTime(m)
	return &next
}

// ScopeFor returns the part of an access token's scope that an introspection shows to s: the
// scopes that s uses, and those that cover one of them.
func (s *ResourceServer) ScopeFor(text string) string {
	if len(s.Scopes) == 0 {
		return text
	}
	var shown []string
	for name := range strings.FieldsSeq(text) {
		if set, err := scope.Of(name); err == nil && slices.ContainsFunc(s.Scopes, set.Covers) {
			shown = append(shown, name)
		}
	}
	return strings.Join(shown, " ")
}

// ResourceServer returns the resource server with an identifier URI, or nil.
func (v View) ResourceServer(id string) *ResourceServer {
	return first[ResourceServer](v, TableResourceServers, indexID, id)
}

// ResourceServerNamed returns the resource server with an identifier URI or a name, ignoring
// the case of a name, or nil.
func (v View) ResourceServerNamed(ref string) *ResourceServer {
	if s := v.ResourceServer(ref); s != nil {
		return s
	}
	return first[ResourceServer](v, TableResourceServers, "name", fold(ref))
}

// ResourceServers returns all resource servers by identifier URI.
func (v View) ResourceServers() iter.Seq[*ResourceServer] {
	return rowsFrom[ResourceServer](v, TableResourceServers, "")
}

// freeNumber returns the lowest number that no resource server has.
func (v View) freeNumber() uint16 {
	var taken [maxResources + 2]bool
	for s := range v.ResourceServers() {
		taken[s.Number] = true
	}
	return uint16(slices.Index(taken[1:], false) + 1)
}

// FeedServed reports whether the feed of revocations is served: there is a resource server
// that may read it.
func (v View) FeedServed() bool {
	for range v.ResourceServers() {
		return true
	}
	return false
}

// PutResourceServer registers a resource server, or changes its name and scopes.
type PutResourceServer struct {
	Actor  Actor    `cbor:"1,keyasint"`
	ID     string   `cbor:"2,keyasint"`
	Name   string   `cbor:"3,keyasint"`
	Scopes []string `cbor:"4,keyasint,omitempty"`
	// Secret is the first secret of a new resource server. It may be nil.
	Secret *NewSecret `cbor:"5,keyasint,omitempty"`
	New    bool       `cbor:"6,keyasint,omitempty"` // refuse to change an existing one
	// ExpectedLast is the ResourceServer.Last that the sender saw. The command is refused if
	// the resource server was changed or removed since. Zero matches any.
	ExpectedLast command.ID `cbor:"7,keyasint,omitzero"`
}

// Kind implements command.Command.
func (*PutResourceServer) Kind() command.Kind { return KindPutResourceServer }

// Decide refuses a name that another resource server has.
func (c *PutResourceServer) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyAdministrator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.ResourceServer(c.ID)
	switch {
	case old != nil && old.Last == m.ID:
		return accept(Outcome{ID: c.ID})
	case old != nil && c.New:
		return taken("id")
	case c.ExpectedLast != (command.ID{}) && (old == nil || old.Last != c.ExpectedLast):
		return deny(Conflict)
	case old != nil && c.Secret != nil:
		return badField("secret", "is for a new resource server only")
	case old == nil && count(v.ResourceServers()) >= maxResources:
		return deny(TooManyResources)
	}
	scopes, field, note := checkResource(c.ID, c.Name, c.Scopes)
	switch {
	case note != "":
		return badField(field, note)
	case c.Secret != nil && !who.fresh(m):
		return deny(SignInTooOld)
	}
	if v.resourceNameTaken(c.Name, c.ID) {
		return taken("name")
	}
	if c.Secret != nil && !c.Secret.verifiable(v) {
		return deny(KeyNotRecorded)
	}
	next, kind := &ResourceServer{ID: c.ID, Created: stateTime(m), Number: v.freeNumber(), CreatedSeq: m.Seq}, EventResourceAdded
	if old != nil {
		if old.Name == c.Name && slices.Equal(old.Scopes, scopes) {
			return accept(Outcome{ID: c.ID})
		}
		next, kind = old.changed(m), EventResourceEdited
	}
	next.Name, next.Scopes, next.Last, next.Changed = c.Name, scopes, m.ID, stateTime(m)
	if c.Secret != nil {
		next.Secrets = Secrets{c.Secret.at(stateTime(m))}
	}
	return accept(Outcome{ID: c.ID, Count: 1}, put(TableResourceServers, next), detailEvent(m, kind, who, c.ID, ""))
}

// resourceNameTaken reports whether another resource server than that with an id has a name.
func (v View) resourceNameTaken(name, id string) bool {
	other := v.ResourceServerNamed(name)
	return other != nil && other.ID != id
}

// checkResource returns the scopes in catalogue order, or which field is not valid, and why.
func checkResource(id, name string, declared []string) (scopes []string, field, note string) {
	if note := oauth.CheckResource(id); note != "" {
		return nil, "id", note
	}
	if note := CheckResourceName(name); note != "" {
		return nil, "name", note
	}
	set, _, err := scope.Parse(strings.Join(declared, " "))
	if err != nil {
		return nil, "scopes", "names a scope that does not exist"
	}
	return set.Names(), "", ""
}

// CheckResourceName returns why name is not valid as the name of a resource server, or "".
func CheckResourceName(name string) string {
	note := checkID(name)
	switch {
	case note != "":
		return note
	case len(name) > MaxResourceName:
		return "is longer than 63 characters"
	case strings.Trim(name, ".") == "": // "." and ".." can't be part of a path
		return "needs a character beside dots"
	}
	return ""
}

// AddResourceSecret adds a secret to a resource server.
type AddResourceSecret struct {
	Actor    Actor     `cbor:"1,keyasint"`
	Resource string    `cbor:"2,keyasint"` // identifier URI
	Secret   NewSecret `cbor:"3,keyasint"`
	After    string    `cbor:"4,keyasint,omitempty"` // like AddSecret.After
}

// Kind implements command.Command.
func (*AddResourceSecret) Kind() command.Kind { return KindAddResourceSecret }

// Decide refuses a third active secret. A secret reads everybody's tokens for as long as it is
// kept, so an administrator has to have signed in recently.
func (c *AddResourceSecret) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old, who, refused, ok := v.managedResource(c.Actor, c.Resource, m)
	if !ok {
		return refused
	}
	if old.Secrets.index(c.Secret.ID) >= 0 {
		if old.Last == m.ID {
			return accept(Outcome{ID: c.Secret.ID})
		}
		return deny(AlreadyExists)
	}
	switch {
	case old.ActiveSecrets() >= MaxActiveSecrets:
		return deny(TooManySecrets)
	case !who.operator && old.NewestSecret() != c.After:
		return deny(Conflict)
	case !who.fresh(m):
		return deny(SignInTooOld)
	case !c.Secret.verifiable(v):
		return deny(KeyNotRecorded)
	}
	next := old.changed(m)
	next.Secrets = old.Secrets.added(c.Secret, stateTime(m))
	return accept(Outcome{ID: c.Secret.ID}, put(TableResourceServers, next),
		detailEvent(m, EventResourceSecretAdded, who, old.ID, c.Secret.ID))
}

// RevokeResourceSecret revokes a secret of a resource server. The revocation takes effect
// before the response is sent.
type RevokeResourceSecret struct {
	Actor    Actor  `cbor:"1,keyasint"`
	Resource string `cbor:"2,keyasint"` // identifier URI
	Secret   string `cbor:"3,keyasint"` // the secret's id
}

// Kind implements command.Command.
func (*RevokeResourceSecret) Kind() command.Kind { return KindRevokeResourceSecret }

// Decide also revokes the last active secret: unlike an application, a resource server goes
// on verifying tokens without one.
func (c *RevokeResourceSecret) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old, who, refused, ok := v.managedResource(c.Actor, c.Resource, m)
	if !ok {
		return refused
	}
	if old.Secrets.index(c.Secret) < 0 {
		return deny(NotFound)
	}
	secrets, was := old.Secrets.revoked(c.Secret, stateTime(m))
	if !was {
		return accept(Outcome{ID: c.Secret})
	}
	next := old.changed(m)
	next.Secrets = secrets
	return accept(Outcome{ID: c.Secret}, put(TableResourceServers, next),
		detailEvent(m, EventResourceSecretRevoked, who, old.ID, c.Secret))
}

// RemoveResourceServer removes a resource server and its secrets. Its identifier URI may be
// registered again.
type RemoveResourceServer struct {
	Actor        Actor      `cbor:"1,keyasint"`
	ID           string     `cbor:"2,keyasint"`
	ExpectedLast command.ID `cbor:"3,keyasint,omitzero"` // like PutResourceServer.ExpectedLast
}

// Kind implements command.Command.
func (*RemoveResourceServer) Kind() command.Kind { return KindRemoveResourceServer }

// Decide accepts a repeated command whose row is removed.
func (c *RemoveResourceServer) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	if m.Again && v.ResourceServer(c.ID) == nil {
		return accept(Outcome{ID: c.ID})
	}
	old, who, refused, ok := v.managedResource(c.Actor, c.ID, m)
	switch {
	case !ok:
		return refused
	case c.ExpectedLast != (command.ID{}) && old.Last != c.ExpectedLast:
		return deny(Conflict)
	}
	return accept(Outcome{ID: c.ID}, remove(TableResourceServers, old), detailEvent(m, EventResourceRemoved, who, c.ID, ""))
}

// managedResource returns a resource server for an administrator to change.
func (v View) managedResource(a Actor, id string, m command.Meta) (*ResourceServer, caller, command.Decision, bool) {
	who, cause := v.identifyAdministrator(a, m)
	if cause != NoCause {
		return nil, who, deny(cause), false
	}
	s := v.ResourceServer(id)
	if s == nil {
		return nil, who, deny(NotFound), false
	}
	return s, who, command.Decision{}, true
}
