package policy

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Access is what a row asks. The zero value is closed.
type Access uint8

// What a row may ask.
const (
	Closed Access = iota // no scope opens it; legacy tokens pass, as everywhere
	Public               // no token is needed; one that comes along must be valid
	Scoped               // a token with the row's scope
)

// The words of a table that stand where a scope could.
const (
	wordClosed = "CLOSED"
	wordPublic = "PUBLIC"
)

// wordFresh may stand behind a scope or CLOSED.
const wordFresh = "FRESH"

// Row is one line of a table: a decision about one route.
type Row struct {
	Method  string // GET also decides HEAD, unless HEAD has a row
	Pattern string // segments; ":name" or "{name}" is a parameter
	Access  Access
	Scope   string // of Scoped: the one scope that is needed
	Fresh   bool   // closed while the verifier may have missed a revocation; not of Public
	Line    int    // where it stands in its table, for people; 0 if nowhere
}

// Requirement is the third column: a scope, PUBLIC or CLOSED.
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

// setRequirement sets what the third column says.
func (r *Row) setRequirement(word string) error {
	switch {
	case word == wordPublic:
		r.Access = Public
	case word == wordClosed:
		r.Access = Closed
	case scope.Known(word):
		r.Access, r.Scope = Scoped, word
	default:
		return fmt.Errorf("%q is no scope, nor PUBLIC or CLOSED", word)
	}
	return nil
}

// check holds rows that a program makes to what a line of a table can say.
func (r Row) check() error {
	switch {
	case r.Access > Scoped:
		return fmt.Errorf("%d is no access", r.Access)
	case r.Access == Scoped && !scope.Known(r.Scope):
		return fmt.Errorf("%q is no scope", r.Scope)
	case r.Fresh && r.Access == Public:
		return fmt.Errorf("%s beside %s, which needs no token", wordFresh, wordPublic)
	case r.Access != Scoped && r.Scope != "":
		return fmt.Errorf("%s beside the scope %q", r.Requirement(), r.Scope)
	}
	return nil
}

// isMethod: the tokens of RFC 9110 §9.1 as they are in use. Methods differ by
// letter case, so "get" would be a row that nothing ever meets.
func isMethod(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return s != "" && len(s) <= 16
}
