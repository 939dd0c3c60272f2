package web

import (
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/signin"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// Types of the configuration, for those who implement them.
type (
	Documents  = signin.Documents
	Forms      = site.Forms
	Ledger     = site.Ledger
	NewSecrets = parts.NewSecrets
	Refusals   = parts.Refusals
	Sessions   = site.Sessions
	Upstream   = authn.Upstream
)

// PathUpstreamCallback is the redirection URI that is registered at the provider, without the
// address of the pages.
const PathUpstreamCallback = authn.PathUpstreamCallback

// NewRefusals returns an empty Refusals.
func NewRefusals() *Refusals { return parts.NewRefusals() }
