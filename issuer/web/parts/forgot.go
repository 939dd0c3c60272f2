package parts

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// Forgot is what the sign-in page offers to people who forgot their password: the template "forgot".
type Forgot struct{ Text, Path, Service string }

// Default returns the sentence that is shown if an administrator has chosen neither text nor link.
func (f Forgot) Default() string { return "Ask an administrator of " + f.Service + "." }

// ForgotOf returns what an administrator has chosen, and the name of the service for the default.
func ForgotOf(b *ledger.Brand) Forgot {
	return Forgot{Text: b.Forgot, Path: b.ForgotURL, Service: site.BrandOf(b).Name}
}
