package policy

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed scheduling.txt
var schedulingText string

// Scheduling returns the table of the scheduling product's API. Where neither its list of
// endpoints nor section 2.4 of the service document names a scope, a comment in
// scheduling.txt gives the reason for the row's scope. Five callbacks, to which a
// provider redirects the user's browser, are not in that list; they are PUBLIC, since
// such a request has no token.
func Scheduling() *Table { return scheduling() }

var scheduling = sync.OnceValue(func() *Table {
	t, err := Load(strings.NewReader(schedulingText))
	if err != nil {
		panic(err) // a mistake in scheduling.txt, which fails the tests
	}
	return t
})
