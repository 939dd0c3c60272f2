// A module of its own: whoever imports Mintmark never sees what it needs.
module github.com/mintmark-auth/mintmark/cmd/mintmark/e2e/verifiers

go 1.26.0

ignore ./node_modules

require (
	github.com/MicahParks/keyfunc/v3 v3.9.0
	github.com/coreos/go-oidc/v3 v3.21.0
	github.com/golang-jwt/jwt/v5 v5.3.1
)

require (
	github.com/MicahParks/jwkset v0.11.3 // indirect
	github.com/go-jose/go-jose/v4 v4.1.4 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)
