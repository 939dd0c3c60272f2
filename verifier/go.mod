// A module of its own, so that importers get none of the server's requirements. Its
// packages import the standard library only. testify is for the tests: the version is an
// old one, since importers' builds select at least this version.
module github.com/mintmark-auth/mintmark/verifier

go 1.25.0

require github.com/stretchr/testify v1.9.0

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
