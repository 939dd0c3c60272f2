package signin

import (
	"context"
	"embed"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// A Config configures the pages of this package. It must not be changed afterwards.
type Config struct {
	// Code mints the authorization code of an accepted Allow.
	Code func(ctx context.Context, o *ledger.Issued, index uint64) (credential.Code, error)
	// Issuer returns the issuer identifier in authorization responses (RFC 9207 §2).
	Issuer func() string
	// Attempts is required with an Upstream.
	Attempts Attempts
	// Documents fetches the metadata documents of clients. It may be nil: then none can be
	// fetched.
	Documents Documents
	// Registration returns what the client_id of a registered client has, or nil. It may be nil:
	// then there are no such clients.
	Registration func(ctx context.Context, clientID string) *oauth.Registration
	// Refusals has why the authorization step refused requests, for the owner of the client.
	Refusals *parts.Refusals
	// Refused counts each answered refusal of the authorization step.
	Refused func(ledger.Cause)
}

// An Area serves the pages for signing in and for the authorization step.
type Area struct {
	site.Area

	prover *authn.Prover
	config Config
}

//go:embed templates
var templates embed.FS

// New returns the pages of a Site.
func New(s *site.Site, p *authn.Prover, c Config) (*Area, error) {
	pages, err := parts.ParseCards(templates)
	if err != nil {
		return nil, fmt.Errorf("parse pages: %w", err)
	}
	return &Area{Area: site.Area{Site: s, Pages: pages}, prover: p, config: c}, nil
}
