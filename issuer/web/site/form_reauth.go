package site

import (
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// OwnPassword is the field for the user's own password, in forms for actions that need a
// sign-in within ledger.ReauthenticateAfter. The page requests the password if its node
// considers the sign-in too old; the command decides.
const OwnPassword = "own_password"

// OwnPasswordField returns the field OwnPassword.
func OwnPasswordField() Field { return SecretField(OwnPassword, "Your password") }

// A Reauth is a form's request that the user authenticates again, by password or by a
// sign-in at the provider. A user who can do neither must sign out and sign in again.
type Reauth struct {
	Password bool
	Provider string
	Address  string // the link that begins the sign-in at Provider; pages with Password don't show it
	NewTab   bool   // the link opens in another tab, to keep the input in this one
	To       string // what needs it, if only one choice of the form does, such as "add an administrator"; or ""
}

// Reauth returns the proof that the form requests, or nil.
func (f *Form) Reauth() *Reauth { return f.reauth }

// OwnPassword returns the input for the user's own password. The form must have a Reauth.
func (f *Form) OwnPassword() ui.Input {
	i := f.Input(OwnPassword, "You signed in more than 15 minutes ago. It is asked for so that nobody else can do this in a browser that you left open.").As("current-password")
	if f.reauth.To != "" {
		i = i.NeededTo(f.reauth.To)
	}
	return i
}
