package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Configure replaces the settings. Only operators send it.
type Configure struct {
	Settings Settings `cbor:"1,keyasint"`
	// First changes nothing if there are settings: each node of a static bootstrap
	// proposes the settings that it was started with.
	First bool `cbor:"2,keyasint,omitempty"`
	// ExpectedLast is the Settings.Last that the sender has read. The command is refused
	// if the settings have changed since, so that concurrent changes don't undo each
	// other. Zero replaces any settings.
	ExpectedLast command.ID `cbor:"3,keyasint,omitzero"`
	Actor        Actor      `cbor:"4,keyasint,omitzero"` // an operator; zero is the local one
}

// Kind implements command.Command.
func (*Configure) Kind() command.Kind { return KindConfigure }

// Decide accepts settings that pass Check.
func (c *Configure) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyOperator(c.Actor.orOperator(), m)
	if cause != NoCause {
		return deny(cause)
	}
	s := c.Settings
	if field, note := s.Check(); field != "" {
		return badField(field, note)
	}
	s.ID = SettingsID
	old := *v.Settings()
	s.Last, s.CachedJWKSUntil = old.Last, old.CachedJWKSUntil
	s.Brand.Logo, s.Draft, s.HasDraft = old.Brand.Logo, old.Draft, old.HasDraft
	if (s == old || c.First || old.Last == m.ID) && old.Last != (command.ID{}) {
		return accept(Outcome{ID: s.ID})
	}
	if c.ExpectedLast != (command.ID{}) && c.ExpectedLast != old.Last {
		return deny(Conflict)
	}
	if s.JWKSMaxAge < old.JWKSMaxAge && old.Last != (command.ID{}) {
		s.CachedJWKSUntil = max(old.CachedJWKSUntil, stateTime(m).Add(2*old.JWKSMaxAge))
	}
	s.Last = m.ID
	return accept(Outcome{ID: s.ID}, put(TableSettings, &s),
		event(m, Event{Kind: EventConfigured, Actor: who.name(), Detail: settingDifferences(&old, &s)}))
}
