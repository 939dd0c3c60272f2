package main

// A family is a set of files and the tests that must notice their mutants.
type family struct {
	files []string // patterns below the root of the module
	tests []tests  // the nearest package first; the next ones get the survivors
}

// tests are the tests of one package.
type tests struct {
	folder string
	run    string // regular expression of their names, "" for all
	skip   string // regular expression of slow or random tests
}

var families = []family{
	{files: []string{"issuer/oauth/*.go"}, tests: []tests{{folder: "issuer/oauth"}}},
	{files: []string{"issuer/credential/*.go"}, tests: []tests{{folder: "issuer/credential"}}},
	{files: []string{"middleware/policy/*.go"}, tests: []tests{{folder: "middleware/policy"}}},
	{files: []string{"issuer/endpoint/*.go"}, tests: []tests{{folder: "issuer/endpoint"}}},
	{files: []string{"issuer/ledger/*.go"}, tests: []tests{{folder: "issuer/ledger", skip: "Properties$|Bounded$|^Fuzz"}}},
	{
		files: []string{
			"issuer/web/site/guard.go", "issuer/web/site/formtoken.go", "issuer/web/site/session.go", "issuer/web/site/limits.go",
			"issuer/web/authn/reauth.go", "issuer/web/authn/password.go",
		},
		tests: []tests{{folder: "issuer/web/site"}, {folder: "issuer/web/authn"}, {folder: "issuer/web/signin"}, {folder: "issuer/web"}},
	},
	{files: []string{"cluster/propose.go"}, tests: []tests{{folder: "cluster", run: "Propose|Barrier|View|RollingUpgrade|DelayNobody"}}},
}
