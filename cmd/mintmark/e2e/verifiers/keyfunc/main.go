// Command keyfunc is a resource server that verifies with golang-jwt, and takes
// keys from keyfunc.
package main

import (
	"context"
	"errors"
	"log"
	"os"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/e2e/verifiers/serve"
)

// claims are those that golang-jwt checks, and ours.
type claims struct {
	jwt.RegisteredClaims
	Scope  string `json:"scope"`
	Legacy bool   `json:"legacy"`
}

func main() {
	issuer, audience := os.Getenv("ISSUER"), os.Getenv("AUDIENCE")

	keys, err := keyfunc.NewDefaultCtx(context.Background(), []string{issuer + "/.well-known/jwks.json"})
	if err != nil {
		log.Fatal(err)
	}
	parser := jwt.NewParser(
		jwt.WithIssuer(issuer), jwt.WithAudience(audience),
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithExpirationRequired(),
	)
	verify := func(text string) (c claims, err error) {
		token, err := parser.ParseWithClaims(text, &c, keys.Keyfunc)
		if err == nil && token.Header["typ"] != "at+jwt" {
			err = errors.New("not an access token")
		}
		return c, err
	}

	serve.Bookings(func(_ context.Context, token string) (serve.Claims, error) {
		c, err := verify(token)
		return serve.Claims{Subject: c.Subject, Scope: c.Scope, Legacy: c.Legacy}, err
	})
}
