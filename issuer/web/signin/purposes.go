package signin

import (
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

const (
	forSignIn   site.Purpose = "sign-in"
	forUpstream site.Purpose = "sign-in upstream"
	forConsent  site.Purpose = "consent"
)
