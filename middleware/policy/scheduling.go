package policy

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed scheduling.txt
var schedulingText string

// Scheduling is the table of the scheduling product's API. Where neither its
// list of endpoints nor section 2.4 of the service document names a scope, the
// row has a comment that says why it asks for the one it does; see
// scheduling.txt beside this file. Five callbacks, to which a provider redirects
// the user's browser, are no part of that list; they are PUBLIC, since a browser
// can't bring a token there.
func Scheduling() *Table { return scheduling() }

var scheduling = sync.OnceValue(func() *Table {
	t, err := Load(strings.NewReader(schedulingText))
	if err != nil {
		panic(err) // a mistake in the file above, which a test would have met
	}
	return t
})
