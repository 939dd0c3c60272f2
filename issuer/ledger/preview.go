package ledger

import (
	"math"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

// A Preview describes what a replay of records would do to a state.
type Preview struct {
	Lines     []string // the changes, in the order of the records
	Counts    []EffectCount
	Unapplied []string // effects that would not be applied, if the operator should know
	Keyring   []*Key   // all keys after the replay
}

// An EffectCount counts effects of one kind.
type EffectCount struct {
	Kind    EffectKind
	Changes int
	Skipped int // effects on rows that the state doesn't have, or that changed nothing
}

// PreviewReplay describes what a replay of records would change. v is the state of the
// backup; it need not be restored yet.
func (v View) PreviewReplay(backup uint64, records []Record) (Preview, *Refusal) {
	if refused := checkRecords(records); refused != nil {
		return Preview{}, refused
	}
	var p Preview
	var counts [lastEffect + 1]EffectCount
	s := newReplayState(v, command.Meta{Seq: math.MaxUint64, At: math.MaxInt64})
	for i := range records {
		r := &records[i]
		if r.Seq <= backup {
			continue
		}
		for j := range r.Effects {
			e := &r.Effects[j]
			if s.apply(e, r.when(e)) {
				counts[e.Kind].Changes++
				p.Lines = append(p.Lines, r.line(e))
				if e.Kind == EffectClientTransferred && s.users.get(e.User) == nil {
					p.Unapplied = append(p.Unapplied, r.line(e)+": the backup does not have the user; an administrator transfers the client to another")
				}
				continue
			}
			counts[e.Kind].Skipped++
			if why := s.whyUnapplied(e); why != "" {
				p.Unapplied = append(p.Unapplied, r.line(e)+": "+why)
			}
		}
	}
	if s.tooLate {
		return Preview{}, outcome(deny(ReplayTooLate)).Refusal
	}
	for _, holder := range s.lockedOut() {
		p.Unapplied = append(p.Unapplied, holder.String()+" can't authenticate: "+holder.lockedOut().Error())
	}
	p.Keyring = s.keyring
	for kind, n := range counts {
		if n.Changes+n.Skipped > 0 {
			n.Kind = EffectKind(kind)
			p.Counts = append(p.Counts, n)
		}
	}
	return p, nil
}

// Reasons in Preview.Unapplied that an operator has to act on after the restore.
var (
	ErrLockedOut         = errcode.New("client_locked_out", "its secrets are recorded under a key that was dropped in emergency")
	ErrResourceLockedOut = errcode.New("resource_server_locked_out", "the secrets of the resource server are recorded under a key that was dropped in emergency")
	ErrLeakedKeyInUse    = errcode.New("leaked_key_in_use", "it is still in use, as there is no other")
)

// lockedOut returns the error of a holder whose secrets were all dropped with their keys.
func (h SecretHolder) lockedOut() error {
	if h.Resource != "" {
		return ErrResourceLockedOut
	}
	return ErrLockedOut
}

// whyUnapplied returns why an effect that was not applied matters to the operator, or "".
// Most don't matter: they concern rows that were created after the backup and are lost,
// or match what the backup has.
func (s *replayState) whyUnapplied(e *Effect) string {
	switch e.Kind {
	case EffectKeyDropped:
		switch {
		case !e.Emergency && s.keyIndex(e.ID) >= 0:
			return "secrets of the backup are recorded under it; it goes when they have been used"
		case !e.Emergency:
		case s.keyIndex(e.ID) >= 0:
			return ErrLeakedKeyInUse.Error()
		default:
			return "the backup does not have it"
		}
	case EffectKeyActivated:
		if s.keyIndex(e.ID) < 0 {
			return "it is not there"
		}
	case EffectSecretRevoked, EffectSecretAdded, EffectSecretEnds:
		return s.whySecretUnapplied(e)
	case EffectResourceSecretRevoked, EffectResourceSecretAdded:
		return s.whyResourceSecretUnapplied(e)
	}
	return ""
}

func (s *replayState) whySecretUnapplied(e *Effect) string {
	switch c := s.clients.get(e.Client); {
	case c == nil:
		return "the backup does not have the client"
	case c.State != Deleted:
		return c.Secrets.whyUnapplied(e, "the client")
	}
	return ""
}

func (s *replayState) whyResourceSecretUnapplied(e *Effect) string {
	r := s.resources.get(e.Resource)
	if r == nil {
		return "the backup does not have the resource server"
	}
	return r.Secrets.whyUnapplied(e, "the resource server")
}

// whyUnapplied returns why the change of a secret that e describes was not applied to the
// secrets of a holder, or "".
func (l Secrets) whyUnapplied(e *Effect, holder string) string {
	added := e.Kind == EffectSecretAdded || e.Kind == EffectResourceSecretAdded
	switch {
	case !added && l.index(e.ID) < 0:
		return "the backup does not have it"
	case added && !l.has(e.Secret.ID):
		return holder + " has others"
	}
	return ""
}
