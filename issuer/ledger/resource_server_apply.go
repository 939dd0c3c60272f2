package ledger

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// ApplyResourceServer makes a resource server what an operator's file declares, in one
// decision. Like ApplyClient it carries what the operator saw, and a resource server that is
// what is declared already is not changed.
type ApplyResourceServer struct {
	Actor  Actor    `cbor:"1,keyasint"`
	ID     string   `cbor:"2,keyasint"` // identifier URI
	Name   string   `cbor:"3,keyasint"`
	Scopes []string `cbor:"4,keyasint,omitempty"`

	// Secrets are all secrets that are to be active, if NamesSecrets is set; otherwise the
	// secrets stay.
	NamesSecrets bool             `cbor:"5,keyasint,omitempty"`
	Secrets      []DeclaredSecret `cbor:"6,keyasint,omitempty"`

	// ExpectedLast is the ResourceServer.Last that the operator saw; zero means that there
	// was no resource server.
	ExpectedLast command.ID `cbor:"7,keyasint,omitzero"`
	Manager      string     `cbor:"8,keyasint,omitempty"`  // like ApplyClient.Manager; "" for fixtures
	Adopt        bool       `cbor:"9,keyasint,omitempty"`  // like ApplyClient.Adopt
	Declared     []string   `cbor:"10,keyasint,omitempty"` // like ImportClient.Declared
}

// Kind implements command.Command.
func (*ApplyResourceServer) Kind() command.Kind { return KindApplyResourceServer }

// Decide accepts a repetition, and a declaration that changes nothing, whatever it expects.
func (c *ApplyResourceServer) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyOperator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.ResourceServer(c.ID)
	if old != nil && (old.Last == m.ID || slices.Contains(c.Declared, old.Declared)) {
		return accept(Outcome{ID: c.ID})
	}
	next, refused := c.declared(v, old, m)
	switch {
	case refused == nil && old != nil && len(appliedResource(old, next)) == 0 && old.Declared == next.Declared:
		return accept(Outcome{ID: c.ID})
	case old != nil && old.Last != c.ExpectedLast:
		return deny(Conflict)
	case old == nil && c.ExpectedLast != (command.ID{}):
		return deny(NotFound)
	case refused != nil:
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}
	detail := strings.Join(appliedResource(cmp.Or(old, next), next), "; ")
	if old == nil {
		detail = "added; scopes " + scopeText(next.Scopes)
	}
	return accept(Outcome{ID: c.ID, Count: 1}, put(TableResourceServers, next),
		detailEvent(m, EventResourceApplied, who, c.ID, clipDetail(detail)))
}

// declared returns the row that the declaration makes of old, or why it can't be one.
func (c *ApplyResourceServer) declared(v View, old *ResourceServer, m command.Meta) (*ResourceServer, *Refusal) {
	bad := func(field, note string) (*ResourceServer, *Refusal) {
		return nil, outcome(badField(field, note)).Refusal
	}
	if old == nil {
		if count(v.ResourceServers()) >= maxResources {
			return nil, outcome(deny(TooManyResources)).Refusal
		}
		old = &ResourceServer{ID: c.ID, Created: stateTime(m), Number: v.freeNumber(), CreatedSeq: m.Seq, ManagedBy: c.Manager}
	}
	next := old.changed(m)
	scopes, field, note := checkResource(c.ID, c.Name, c.Scopes)
	switch {
	case note != "":
		return bad(field, note)
	case checkText(c.Manager, 0, maxManager) != "":
		return bad("manager", checkText(c.Manager, 0, maxManager))
	case old.ManagedBy != "" && old.ManagedBy != c.Manager && !c.Adopt:
		return bad("managed_by", "is "+old.ManagedBy)
	case slices.ContainsFunc(c.Secrets, func(d DeclaredSecret) bool { return d.New.Hash != "" }):
		return bad("secrets", "has a hash of another system, which clients only may have")
	case v.resourceNameTaken(c.Name, c.ID):
		return nil, outcome(taken("name")).Refusal
	}
	next.Name, next.Scopes = c.Name, scopes
	if len(c.Declared) > 0 {
		next.Declared = newest(c.Declared)
	}
	if c.Adopt {
		next.ManagedBy = c.Manager
	}
	if c.NamesSecrets {
		var refused *Refusal
		if next.Secrets, refused = old.Secrets.declared(v, c.Secrets, stateTime(m)); refused != nil {
			return nil, refused
		}
	}
	return next, nil
}

// appliedResource is like applied, of a resource server.
func appliedResource(old, next *ResourceServer) (all differences) {
	all.text("name", old.Name, next.Name)
	all.text("scopes", scopeText(old.Scopes), scopeText(next.Scopes))
	all.secrets(old.Secrets, next.Secrets)
	all.text("managed_by", old.ManagedBy, next.ManagedBy)
	return all
}

func scopeText(scopes []string) string { return cmp.Or(strings.Join(scopes, " "), "every scope") }
