package scope

import (
	"fmt"
	"math/bits"
	"strings"
)

// Set is a set of known scopes. The zero value is empty. A Set is a plain value: it can
// be compared with ==, copied, and shared between goroutines.
type Set struct {
	// bits has bit i set for catalogue[i]. Invariant: bits &^ known == 0.
	bits uint64
}

// Of returns the set of these scopes, or an [*UnknownError].
func Of(names ...string) (Set, error) {
	var s Set
	for _, name := range names {
		i, ok := position[name]
		if !ok {
			return Set{}, &UnknownError{Name: name}
		}
		s.bits |= 1 << i
	}
	return s, nil
}

// MustOf is Of for names in the program's text: it panics on an unknown one.
func MustOf(names ...string) Set {
	s, err := Of(names...)
	if err != nil {
		panic(fmt.Sprintf("scope.MustOf: %v", err))
	}
	return s
}

// All returns the whole catalogue as a set.
func All() Set { return Set{known} }

// Empty reports whether s has no scope.
func (s Set) Empty() bool { return s.bits == 0 }

// Len is the number of scopes in s.
func (s Set) Len() int { return bits.OnesCount64(s.bits) }

// Has reports whether the name itself is in s. It is for grants and clients; a resource
// server uses [Set.Covers].
func (s Set) Has(name string) bool {
	i, ok := position[name]
	return ok && s.bits&(1<<i) != 0
}

// Contains reports whether every scope of o is itself in s.
func (s Set) Contains(o Set) bool { return o.bits&^s.bits == 0 }

// Covers reports whether s grants name: name is in s, or name is TEAM_X and ORG_X is in
// s. No set covers an unknown name.
func (s Set) Covers(name string) bool {
	i, ok := position[name]
	return ok && s.bits&coveredBy[i] != 0
}

// CoversAll reports whether s covers every scope of o.
func (s Set) CoversAll(o Set) bool {
	for missing := o.bits &^ s.bits; missing != 0; missing &= missing - 1 {
		if s.bits&coveredBy[bits.TrailingZeros64(missing)] == 0 {
			return false
		}
	}
	return true
}

// Union returns the scopes in s, in o, or in both.
func (s Set) Union(o Set) Set { return Set{s.bits | o.bits} }

// Minus returns the scopes of s that are not themselves in o.
func (s Set) Minus(o Set) Set { return Set{s.bits &^ o.bits} }

// Intersect returns the scopes that are themselves in both s and o.
func (s Set) Intersect(o Set) Set { return Set{s.bits & o.bits} }

// Names lists the scopes of s in catalogue order.
func (s Set) Names() []string {
	names := make([]string, 0, s.Len())
	for rest := s.bits; rest != 0; rest &= rest - 1 {
		names = append(names, catalogue[bits.TrailingZeros64(rest)].Name)
	}
	return names
}

// String is Names with single spaces between: the form of a scope claim.
func (s Set) String() string { return strings.Join(s.Names(), " ") }
