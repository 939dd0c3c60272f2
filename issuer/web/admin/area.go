package admin

import (
	"embed"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// An Area serves the pages for administrators.
type Area struct {
	site.Area

	prover  *authn.Prover
	secrets *parts.SecretForms
	// agentCounters has the grants for the clients of each publisher: see grantsOf.
	agentCounters *parts.Counters[ledger.PublisherGrants]
	// people has the number of users connected to each client.
	people *parts.Counters[ledger.Connected]
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
		Area: site.Area{Site: s, Pages: pages}, prover: p, secrets: secrets, agentCounters: parts.NewCounters[ledger.PublisherGrants](),
		people: parts.NewCounters[ledger.Connected](),
	}, nil
}
