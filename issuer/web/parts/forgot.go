package parts

import "github.com/mintmark-auth/mintmark/issuer/ledger"

// Forgot is what the sign-in page offers to people who forgot their password: the template "forgot".
type Forgot struct{ Text, Path string }

// ForgotOf returns what an administrator has chosen.
func ForgotOf(b *ledger.Brand) Forgot { return Forgot{Text: b.Forgot, Path: b.ForgotURL} }
