package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// The change of the authority has three steps, so that no member, whenever it
// was down or killed, meets others whose certificates it does not accept:
//
//	announced    a new authority is in the list, and signs nothing
//	signing      once every member accepts its certificates
//	alone        once every member's certificate is from it, and the old one goes
//
// The leader takes the second and third step by itself. A member that is down
// holds them up until it is back, or removed.

// States of an authority.
const (
	AuthorityAnnounced = "announced" // accepted, and signs nothing yet
	AuthoritySigning   = "signing"
	AuthorityRetiring  = "retiring" // accepted still
)

// Authorities are the authorities that certificates of members may be from. Its fields
// are set before it is used.
type Authorities struct {
	state     replicatedState
	networked bool
	sealer    member.Secrets
	rand      io.Reader
	now       func() time.Time
	list      *member.PeerList
	silent    func() []string // ids of the members that have not answered for a while
	nameOf    func(id string) string
	log       *slog.Logger
}

// replicatedState is the part of a Node that Authorities and SecretExchange use.
type replicatedState interface {
	View() *memdb.Txn
	ViewFresh(ctx context.Context) (*memdb.Txn, error)
	Changed(table string) <-chan struct{}
	decide(ctx context.Context, c command.Command) (member.Outcome, error)
	explainUnavailable(ctx context.Context, err error) error
	waitFor(ctx context.Context, met func() bool) error
}

// AuthorityStatus is one authority that certificates of members may be from.
type AuthorityStatus struct {
	ID    string // SHA-256 of its certificate, which join tokens are pinned to
	Made  time.Time
	State string
	// Waits has the names of members that keep it from its next step.
	Waits []string
}

// List returns the authorities as this node knows them, the one that signs first. There
// is more than one only during a change.
func (a *Authorities) List() []AuthorityStatus {
	view := a.state.View()
	all, by := member.Authorities(view), member.All(view)
	signs := member.Signing(all)
	var list []AuthorityStatus
	for _, one := range all {
		s := AuthorityStatus{ID: one.ID, State: AuthorityRetiring}
		if cert, err := x509.ParseCertificate(one.Certificate); err == nil {
			s.Made = cert.NotBefore.Add(member.Backdated)
		}
		switch {
		case one == signs:
			s.State = AuthoritySigning
		case one.Made == 0:
			s.State, s.Waits = AuthorityAnnounced, namesUnless(by, func(m *member.Member) bool { return m.TrustedIssuer == one.ID })
		default:
			s.Waits = namesUnless(by, func(m *member.Member) bool { return signs != nil && m.Issuer == signs.ID })
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b AuthorityStatus) int {
		return strings.Compare(b.State, a.State) // signing, retiring, announced
	})
	return list
}

func namesUnless(all []*member.Member, holds func(*member.Member) bool) []string {
	var names []string
	for _, m := range all {
		if !holds(m) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Rotate announces a new authority, and waits, at most for patience, until it is the only
// one. It does not wait for nodes that are down. The change continues by itself if it takes
// longer: List reports which members it waits for. The error is a *RefusedError if a rule
// forbids the change.
func (a *Authorities) Rotate(ctx context.Context, patience time.Duration) ([]AuthorityStatus, error) {
	if !a.networked {
		return nil, member.Refuse(member.ErrNoNetwork)
	}
	view, err := a.state.ViewFresh(ctx)
	if err != nil {
		return nil, a.state.explainUnavailable(ctx, err)
	}
	old := member.Authorities(view)
	switch {
	case len(old) == 0:
		return nil, &member.RefusedError{Reason: "this cluster has no members yet"}
	case len(old) > 1:
		waits := a.waitsFor()
		if waits == "" {
			waits = "no node any longer"
		}
		return a.List(), &member.RefusedError{Reason: "the authority is being changed already, waiting for " + waits}
	}
	next, err := member.NewAuthority(a.rand, a.sealer, a.now())
	if err != nil {
		return nil, err
	}
	next.Made = 0
	if err := a.set(ctx, old, append(member.AuthorityValues(old), next)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = a.state.waitFor(ctx, func() bool {
		all := member.Authorities(a.state.View())
		return len(all) == 1 && all[0].ID == next.ID || a.waitsOnlyForSilent()
	})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("wait for the change of the authority: %w", err)
	}
	return a.List(), nil
}

// waitsOnlyForSilent reports whether a change of the authority waits only for nodes that
// have not answered for a while: then waiting for it is of no use.
func (a *Authorities) waitsOnlyForSilent() bool {
	silent := a.silent()
	waits := a.waitsFor()
	return waits != "" && !slices.ContainsFunc(strings.Split(waits, ", "), func(name string) bool {
		return !slices.ContainsFunc(silent, func(id string) bool { return a.nameOf(id) == name })
	})
}

// waitsFor names the members that hold up a change of the authority.
func (a *Authorities) waitsFor() string {
	var names []string
	for _, s := range a.List() {
		names = append(names, s.Waits...)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// reconcile takes the next step of a change of the authority, if it is
// due.
func (a *Authorities) reconcile(ctx context.Context, view *memdb.Txn, all []*member.Member) error {
	old := member.Authorities(view)
	if len(old) < 2 {
		return nil
	}
	signs, next := member.Signing(old), member.Announced(old)
	switch {
	case signs == nil:
		return errors.New("no authority signs certificates")
	case next != nil && len(namesUnless(all, func(m *member.Member) bool { return m.TrustedIssuer == next.ID })) == 0:
		list := member.AuthorityValues(old)
		for i := range list {
			if list[i].ID == next.ID {
				list[i].Made = max(a.now().UnixMilli(), signs.Made+1)
			}
		}
		a.log.Info("new authority accepted by every node, signing with it", "id", shortID(next.ID))
		return a.set(ctx, old, list)
	case next == nil && len(namesUnless(all, func(m *member.Member) bool { return m.Issuer == signs.ID })) == 0:
		a.log.Info("certificates renewed on every node, dropping the previous authority", "id", shortID(signs.ID))
		return a.set(ctx, old, []member.Authority{*signs})
	}
	return nil
}

// shortID shortens a fingerprint for logs and operators.
func shortID(id string) string { return id[:min(len(id), 12)] }

// set replaces a list that was read.
func (a *Authorities) set(ctx context.Context, old []*member.Authority, list []member.Authority) error {
	slices.SortFunc(list, func(a, b member.Authority) int { return strings.Compare(a.ID, b.ID) })
	_, err := a.state.decide(ctx, &member.SetAuthorities{
		Authorities: list, PreviousDigest: member.DigestOf(member.AuthorityValues(old)),
	})
	return err
}

// Rewrap seals what certificates are signed with anew, under a key
// that every member must have. It changes nothing where that is done.
func (a *Authorities) Rewrap(ctx context.Context, under member.Secrets) error {
	view, err := a.state.ViewFresh(ctx)
	if err != nil {
		return err
	}
	old := member.Authorities(view)
	if len(old) == 0 {
		return nil
	}
	list, done := member.AuthorityValues(old), true
	for i := range list {
		one := &list[i]
		if _, err := under.Open(member.AuthorityContext(one.ID), one.Sealed); err == nil {
			continue
		}
		done = false
		plain, err := a.sealer.Open(member.AuthorityContext(one.ID), one.Sealed)
		if err != nil {
			return fmt.Errorf("open the authority's key: %w", err)
		}
		if one.Sealed, err = under.Seal(member.AuthorityContext(one.ID), plain); err != nil {
			return fmt.Errorf("seal the authority's key: %w", err)
		}
	}
	if done {
		return nil
	}
	return a.set(ctx, old, list)
}

// CanOpen reports whether open opens the keys of all authorities, both
// in the state and in what this node needs at its next start, before it has a
// state.
func (a *Authorities) CanOpen(open func(context string, sealed []byte) ([]byte, error)) bool {
	all := member.AuthorityValues(member.Authorities(a.state.View()))
	if a.networked {
		all = append(all, a.list.Get().Authorities...)
	}
	for i := range all {
		if _, err := open(member.AuthorityContext(all[i].ID), all[i].Sealed); err != nil {
			return false
		}
	}
	return true
}

// Changed returns a channel that is closed when an authority changes.
func (a *Authorities) Changed() <-chan struct{} { return a.state.Changed(member.AuthoritiesTable) }

// canOpen reports whether this node has the key that an authority's is
// sealed under.
func (a *Authorities) canOpen(one *member.Authority) bool {
	_, err := a.sealer.Open(member.AuthorityContext(one.ID), one.Sealed)
	return err == nil
}
