package member

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// Authorities returns all authorities in order of id.
func Authorities(txn *memdb.Txn) []*Authority { return list[Authority](txn, AuthoritiesTable) }

// Signing returns the authority that signs, or nil.
func Signing(all []*Authority) (newest *Authority) {
	for _, a := range all {
		if a.Made > 0 && (newest == nil || a.Made > newest.Made) {
			newest = a
		}
	}
	return newest
}

// Announced returns the authority that is announced and does not sign yet, or nil.
func Announced(all []*Authority) *Authority {
	if i := slices.IndexFunc(all, func(a *Authority) bool { return a.Made == 0 }); i >= 0 {
		return all[i]
	}
	return nil
}

// AuthorityValues returns copies of rows.
func AuthorityValues(all []*Authority) []Authority {
	list := make([]Authority, len(all))
	for i, a := range all {
		list[i] = *a
	}
	return list
}

// DigestOf returns a digest of authorities, which are in order of id.
func DigestOf(all []Authority) []byte {
	b, err := machine.Marshal(all)
	if err != nil {
		panic(fmt.Sprintf("member: encode authorities: %v", err)) // unreachable: such rows were encoded before
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// check returns why the list may not replace that in the state, "" if it may: it must be
// based on that list, one authority signs, and one that begins to sign was announced and
// is accepted by every member. done reports that the list is already as requested.
func (c *SetAuthorities) check(txn *memdb.Txn, old []*Authority) (why string, done bool) {
	had := DigestOf(AuthorityValues(old))
	switch {
	case bytes.Equal(had, DigestOf(c.Authorities)):
		return "", true
	case !bytes.Equal(had, c.PreviousDigest):
		return "the authorities were changed concurrently", false
	case !slices.ContainsFunc(c.Authorities, func(a Authority) bool { return a.Made > 0 }):
		return "no authority would sign", false
	}
	for i := range c.Authorities {
		a := &c.Authorities[i]
		was := find[Authority](txn, AuthoritiesTable, a.ID)
		if a.Made == 0 || was != nil && was.Made > 0 {
			continue
		}
		if was == nil {
			return "an authority would sign without being announced first", false
		}
		for _, m := range All(txn) {
			if m.TrustedIssuer != a.ID {
				return "node " + m.Name + " does not accept the authority that would sign", false
			}
		}
	}
	return "", false
}
