package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

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

// AuthorityStatus is one authority that certificates of members may be from.
type AuthorityStatus struct {
	ID    string // SHA-256 of its certificate, which join tokens are pinned to
	Made  time.Time
	State string
	// Waits has the names of members that keep it from its next step.
	Waits []string
}

// Authorities are those of the cluster as this node knows them, the one that
// signs first. There is more than one only during a change.
func (n *Node) Authorities() []AuthorityStatus {
	view := n.View()
	all, by := member.Authorities(view), member.All(view)
	signs := member.Signing(all)
	var list []AuthorityStatus
	for _, a := range all {
		s := AuthorityStatus{ID: a.ID, State: AuthorityRetiring}
		if cert, err := x509.ParseCertificate(a.Certificate); err == nil {
			s.Made = cert.NotBefore.Add(member.Backdated)
		}
		switch {
		case a == signs:
			s.State = AuthoritySigning
		case a.Made == 0:
			s.State, s.Waits = AuthorityAnnounced, namesUnless(by, func(m *member.Member) bool { return m.TrustedIssuer == a.ID })
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

// RotateAuthority announces a new authority, and waits a while for it to be the
// only one, unless only nodes that are down hold it up. The change goes on by itself where that takes longer: Authorities
// says who it waits for. The error is a *RefusedError where a rule stands
// against it.
func (n *Node) RotateAuthority(ctx context.Context, patience time.Duration) ([]AuthorityStatus, error) {
	if n.config.Network == nil {
		return nil, &member.RefusedError{Reason: "this node has no network, and so no authority: run it with mintmark serve"}
	}
	view, err := n.ViewFresh(ctx)
	if err != nil {
		return nil, n.explainUnavailable(ctx, err)
	}
	old := member.Authorities(view)
	switch {
	case len(old) == 0:
		return nil, &member.RefusedError{Reason: "this cluster has no members yet"}
	case len(old) > 1:
		waits := n.waitsForAuthority()
		if waits == "" {
			waits = "nobody, and will be done in a moment"
		}
		return n.Authorities(), &member.RefusedError{Reason: "the authority is being changed already, which waits for " + waits}
	}
	a, err := member.NewAuthority(n.config.Rand, n.config.Secrets, n.config.Now())
	if err != nil {
		return nil, err
	}
	a.Made = 0
	if err := n.setAuthorities(ctx, old, append(member.AuthorityValues(old), a)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = n.waitFor(ctx, func() bool {
		all := member.Authorities(n.View())
		return len(all) == 1 && all[0].ID == a.ID || n.waitsOnlyForSilent()
	})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("wait for the change of the authority: %w", err)
	}
	return n.Authorities(), nil
}

// waitsOnlyForSilent says whether a change of the authority waits for nobody but
// nodes that have not been heard of for a while: then there is no use in waiting
// with it.
func (n *Node) waitsOnlyForSilent() bool {
	silent := n.silentMembers(nil)
	waits := n.waitsForAuthority()
	return waits != "" && !slices.ContainsFunc(strings.Split(waits, ", "), func(name string) bool {
		return !slices.ContainsFunc(silent, func(id string) bool { return n.nameOf(id) == name })
	})
}

// waitsForAuthority names the members that hold up a change of the authority.
func (n *Node) waitsForAuthority() string {
	var names []string
	for _, s := range n.Authorities() {
		names = append(names, s.Waits...)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// reconcileAuthorities takes the next step of a change of the authority, if it is
// due.
func (n *Node) reconcileAuthorities(ctx context.Context, view *memdb.Txn, all []*member.Member) error {
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
				list[i].Made = max(n.config.Now().UnixMilli(), signs.Made+1)
			}
		}
		n.log.Info("cluster: every node accepts the new authority, which signs from now on", "id", shortID(next.ID))
		return n.setAuthorities(ctx, old, list)
	case next == nil && len(namesUnless(all, func(m *member.Member) bool { return m.Issuer == signs.ID })) == 0:
		n.log.Info("cluster: every node has a certificate of the new authority, the one before it goes", "id", shortID(signs.ID))
		return n.setAuthorities(ctx, old, []member.Authority{*signs})
	}
	return nil
}

// shortID is enough of a fingerprint for people.
func shortID(id string) string { return id[:min(len(id), 12)] }

// setAuthorities replaces a list that was read.
func (n *Node) setAuthorities(ctx context.Context, old []*member.Authority, list []member.Authority) error {
	slices.SortFunc(list, func(a, b member.Authority) int { return strings.Compare(a.ID, b.ID) })
	_, err := n.decide(ctx, &member.SetAuthorities{
		Authorities: list, PreviousIDs: mapped(old, func(a *member.Authority) string { return a.ID }), PreviousDigest: member.DigestOf(member.AuthorityValues(old)),
	})
	return err
}

// RewrapAuthorities seals what certificates are signed with anew, under a key
// that every member must have. It changes nothing where that is done.
func (n *Node) RewrapAuthorities(ctx context.Context, under member.Secrets) error {
	view, err := n.ViewFresh(ctx)
	if err != nil {
		return err
	}
	old := member.Authorities(view)
	if len(old) == 0 {
		return nil
	}
	list, done := member.AuthorityValues(old), true
	for i := range list {
		a := &list[i]
		if _, err := under.Open(member.AuthorityContext(a.ID), a.Sealed); err == nil {
			continue
		}
		done = false
		plain, err := n.config.Secrets.Open(member.AuthorityContext(a.ID), a.Sealed)
		if err != nil {
			return fmt.Errorf("open the authority's key: %w", err)
		}
		if a.Sealed, err = under.Seal(member.AuthorityContext(a.ID), plain); err != nil {
			return fmt.Errorf("seal the authority's key: %w", err)
		}
	}
	if done {
		return nil
	}
	return n.setAuthorities(ctx, old, list)
}

// CanOpenAuthorities reports whether open opens the keys of all authorities, both
// in the state and in what this node needs at its next start, before it has a
// state.
func (n *Node) CanOpenAuthorities(open func(context string, sealed []byte) ([]byte, error)) bool {
	all := member.AuthorityValues(member.Authorities(n.View()))
	if n.config.Network != nil {
		all = append(all, n.folder.PeerList.Get().Authorities...)
	}
	for i := range all {
		if _, err := open(member.AuthorityContext(all[i].ID), all[i].Sealed); err != nil {
			return false
		}
	}
	return true
}

// AuthoritiesChanged is Changed for the authorities.
func (n *Node) AuthoritiesChanged() <-chan struct{} { return n.Changed(member.AuthoritiesTable) }

// canOpenAuthority reports whether this node has the key that an authority's is
// sealed under.
func (n *Node) canOpenAuthority(a *member.Authority) bool {
	_, err := n.config.Secrets.Open(member.AuthorityContext(a.ID), a.Sealed)
	return err == nil
}
