package policy

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Access is the kind of a row's requirement. The zero value is Closed.
type Access uint8

// The kinds of requirements.
const (
	Closed Access = iota // no scope opens the route; legacy tokens pass, as everywhere
	Public               // no token is needed; a token must be valid
	Scoped               // a token with the row's scope
)

// The words in the place of a scope.
const (
	wordClosed = "CLOSED"
	wordPublic = "PUBLIC"
)

// wordFresh may follow a scope or CLOSED.
const wordFresh = "FRESH"

// Row is one line of a table: a decision about one route.
type Row struct {
	Method  string // GET also decides HEAD, unless HEAD has a row
	Pattern string // segments; ":name" or "{name}" is a parameter
	Access  Access
	Scope   string // of Scoped: the one scope that is needed
	Fresh   bool   // closed while the verifier may have missed a revocation; not of Public
	Line    int    // number of the line in its file, for errors; 0 if none
}

// Requirement returns the third column: a scope, PUBLIC or CLOSED.
func (r Row) Requirement() string {
	switch r.Access {
	case Public:
		return wordPublic
	case Scoped:
		return r.Scope
	}
	return wordClosed
}

func (r Row) String() string {
	text := r.Method + " " + r.Pattern + " " + r.Requirement()
	if r.Fresh {
		text += " " + wordFresh
	}
	return text
}

// setRequirement parses the third column.
func (r *Row) setRequirement(word string) error {
	switch {
	case word == wordPublic:
		r.Access = Public
	case word == wordClosed:
		r.Access = Closed
	case scope.Known(word):
		r.Access, r.Scope = Scoped, word
	default:
		return fmt.Errorf("%q is not a scope, PUBLIC or CLOSED", word)
	}
	return nil
}

// check refuses rows of a program that a line of a table can't have.
func (r Row) check() error {
	switch {
	case r.Access > Scoped:
		return fmt.Errorf("%d is not an Access", r.Access)
	case r.Access == Scoped && !scope.Known(r.Scope):
		return fmt.Errorf("%q is not a scope", r.Scope)
	case r.Fresh && r.Access == Public:
		return fmt.Errorf("%s with %s, which needs no token", wordFresh, wordPublic)
	case r.Access != Scoped && r.Scope != "":
		return fmt.Errorf("%s with the scope %q", r.Requirement(), r.Scope)
	}
	return nil
}

// isMethod reports whether s is a method of RFC 9110 §9.1, in the upper-case letters that
// are in use. Methods are case-sensitive: a row with "get" would never match.
func isMethod(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return s != "" && len(s) <= 16
}
