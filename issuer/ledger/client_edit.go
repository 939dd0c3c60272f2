package ledger

import (
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// EditClient changes the reviewed part of a client. The owner's edit of an approved
// client is split: whatever narrows access takes effect at once, whatever widens access or
// renames becomes a proposed revision. An operator's edit takes effect at once.
type EditClient struct {
	Actor    Actor   `cbor:"1,keyasint"`
	ID       string  `cbor:"2,keyasint"`
	Revision uint64  `cbor:"3,keyasint"` // the revision that the form showed
	Profile  Profile `cbor:"4,keyasint"`
	// Confirm answers ConfirmMigration: scopes of a legacy client are selected although
	// requests still arrive without scope.
	Confirm bool `cbor:"5,keyasint,omitempty"`
	// Logo is the picture whose digest is Profile.Logo. It may be nil if the state has
	// that picture.
	Logo []byte `cbor:"6,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*EditClient) Kind() command.Kind { return KindEditClient }

// Decide follows PRODUCT, "Client states" and "Legacy clients".
func (c *EditClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identify(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.Client(c.ID)
	switch {
	case old == nil || old.State == Deleted || !who.owns(old.Owner):
		return deny(NotFound)
	case old.Last == m.ID:
		return accept(Outcome{ID: c.ID})
	case old.Document != nil:
		return deny(DocumentOwned)
	case old.Revision != c.Revision:
		return deny(Conflict)
	}
	least := MinScopes
	if old.Legacy {
		least = 0
	}
	p, refused := v.checkProfile(c.Profile, old.Type, least)
	if refused != nil {
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}
	logo, refused := v.putLogo(p.Logo, c.Logo)
	if refused != nil {
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}

	next := old.changed(m)
	next.Revision++
	kind := EventClientEdited
	migrates := old.Legacy && len(p.Scopes) > 0
	if migrates {
		if unscoped, _ := old.RecentTraffic(stateTime(m)); unscoped > 0 && !c.Confirm {
			return deny(ConfirmMigration)
		}
		// The first selection narrows a client that had no limits, so it needs no
		// review.
		next.Legacy, next.Draft, kind = false, nil, EventScopesSelected
		next.Scopes = p.Scopes
	}
	switch {
	case who.operator || old.State == Pending:
		next.Profile, next.Proposed = p, nil
	case old.State == Rejected:
		next.Profile, next.Proposed = p, nil
		next.State, next.Reason = Pending, ""
	default:
		next.propose(p)
		if next.Proposed != nil && !migrates {
			kind = EventClientProposed
		}
	}
	next.clearRefused()
	if next.Profile.equal(&old.Profile) && sameProposal(next.Proposed, old.Proposed) && old.Refused == nil && next.State == old.State && !migrates {
		return accept(Outcome{ID: c.ID})
	}
	next.queue(old, m)
	return accept(Outcome{ID: c.ID}, append(logo, put(TableClients, next),
		event(m, Event{Kind: kind, Actor: who.name(), Client: c.ID, User: old.Owner, Detail: next.editDetail(old, kind)}))...)
}

// Words for edits that change no field of the profile, in the detail of EventClientEdited.
const (
	EditWithdrawn   = "proposal withdrawn"
	EditDiscarded   = "refused changes discarded"
	EditResubmitted = "submitted again"
)

// editDetail returns the detail of an edit's event: the names of the fields that differ from
// old, or what the edit did otherwise, and the scopes in force or, for a proposal, the proposed
// ones. That of EventScopesSelected has the scopes only.
func (c *Client) editDetail(old *Client, kind EventKind) string {
	next := &c.Profile
	switch kind {
	case EventScopesSelected:
		return strings.Join(c.Scopes, " ")
	case EventClientProposed:
		next = c.Proposed
	}
	var fields []string
	for _, d := range Differences(&old.Profile, next) {
		fields = append(fields, fieldWords[d.Field])
	}
	what := strings.Join(fields, ", ")
	switch {
	case what != "":
	case old.Refused != nil:
		what = EditDiscarded
	case old.Proposed != nil:
		what = EditWithdrawn
	default:
		what = EditResubmitted
	}
	return what + "; scopes " + list(next.Scopes)
}

// fieldWords maps the field of a Difference to its name in prose.
var fieldWords = map[string]string{
	"name": "name", "purpose": "purpose", "website": "website", "privacy_url": "privacy policy", "terms_url": "terms", "logo": "logo",
	"redirect_uris": "redirect URIs", "scopes": "scopes",
}

// propose removes the scopes and redirection URIs that p lacks, and proposes p for review if
// anything else differs. If p keeps none of them, they stay until the replacement has been
// reviewed: a client always has at least one of each and stays usable while an edit awaits
// review.
func (c *Client) propose(p Profile) {
	c.Scopes = orElse(intersect(c.Scopes, p.Scopes), c.Scopes)
	c.RedirectURIs = orElse(intersect(c.RedirectURIs, p.RedirectURIs), c.RedirectURIs)
	c.Proposed = nil
	if !c.Profile.equal(&p) {
		c.Proposed = &p
	}
}

// Narrowed returns the profile that is in force after the owner of an approved client has edited it
// to p, and before the edit is reviewed.
func (c *Client) Narrowed(p Profile) Profile {
	next := *c
	next.propose(p)
	return next.Profile
}

func sameProposal(a, b *Profile) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.equal(b)
}
