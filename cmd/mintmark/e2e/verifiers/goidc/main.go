// Command goidc is a resource server that verifies with go-oidc.
package main

import (
	"context"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/e2e/verifiers/serve"
)

func main() {
	issuer, audience := os.Getenv("ISSUER"), os.Getenv("AUDIENCE")

	keys := oidc.NewRemoteKeySet(context.Background(), issuer+"/.well-known/jwks.json")
	verifier := oidc.NewVerifier(issuer, keys, &oidc.Config{
		ClientID:             audience, // which go-oidc looks for in aud
		SupportedSigningAlgs: []string{oidc.ES256},
	})

	serve.Bookings(func(ctx context.Context, token string) (claims serve.Claims, err error) {
		verified, err := verifier.Verify(ctx, token)
		if err != nil {
			return claims, err
		}
		return claims, verified.Claims(&claims)
	})
}
