package account

import (
	"embed"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// An Area serves the pages of a user's own account.
type Area struct {
	site.Area

	prover *authn.Prover
	// passwords counts successful changes of the user's own password, by user. Only
	// somebody who knows the password can use this up.
	passwords *limit.Limiter
	secrets   *parts.SecretForms
	readers   *limit.Networks // of feeds, by address
}

//go:embed templates
var templates embed.FS

// New returns the pages of a Site.
func New(s *site.Site, p *authn.Prover, secrets *parts.SecretForms) (*Area, error) {
	pages, err := parts.Parse(templates)
	if err != nil {
		return nil, fmt.Errorf("parse pages: %w", err)
	}
	return &Area{
		Area: site.Area{Site: s, Pages: pages}, prover: p, secrets: secrets,
		passwords: limit.New(1.0/600, 20, 10_000), readers: limit.NewNetworks(1, 60, 10_000),
	}, nil
}
