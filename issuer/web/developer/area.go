package developer

import (
	"context"
	"embed"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/verifier"
)

// A Config configures the pages of this package. It must not be changed afterwards.
type Config struct {
	// Issuer returns the issuer identifier in authorization responses (RFC 9207 §2).
	Issuer func() string
	// Explain opens an error_id. The pages check who may see the result.
	Explain func(errorID string) (ledger.Explanation, error)
	// Verify verifies an access token, as the API of this server does.
	Verify func(ctx context.Context, token string) (*verifier.Claims, error)
	// Refusals are shown to the owner of the client.
	Refusals *parts.Refusals
}

// An Area serves the pages of a user's own applications.
type Area struct {
	site.Area

	secrets  *parts.SecretForms
	config   Config
	counters *parts.Counters[ledger.Connected]            // by client
	ofOwners *parts.Counters[map[string]ledger.Connected] // by owner, of each of their clients
	offers   *limit.Limiter                               // of applications; each reveals whether a user name exists
	listed   int                                          // users listed for each client, at most
}

//go:embed templates
var templates embed.FS

// New returns the pages of a Site.
func New(s *site.Site, secrets *parts.SecretForms, c Config) (*Area, error) {
	pages, err := parts.Parse(templates)
	if err != nil {
		return nil, fmt.Errorf("parse pages: %w", err)
	}
	return &Area{
		Area: site.Area{Site: s, Pages: pages}, secrets: secrets, config: c,
		counters: parts.NewCounters[ledger.Connected](), ofOwners: parts.NewCounters[map[string]ledger.Connected](),
		offers: limit.New(1.0/60, 10, 10_000), listed: parts.MaxCountedUsers,
	}, nil
}
