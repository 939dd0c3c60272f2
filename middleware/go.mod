// A module of its own, for the reasons given in verifier/go.mod.
module github.com/mintmark-auth/mintmark/middleware

go 1.25.0

require (
	github.com/mintmark-auth/mintmark/verifier v0.1.0
	github.com/stretchr/testify v1.9.0
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/mintmark-auth/mintmark/verifier => ../verifier
