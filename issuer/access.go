package issuer

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier"
)

// An accessVerifier verifies access tokens of this server under some settings.
type accessVerifier struct {
	settings *ledger.Settings
	*verifier.Verifier
}

// access verifies an access token of this server, for any audience, revoked or not, and
// returns its claims and its reference. It uses the keys that this node has opened, so the
// caller must verify on an up-to-date view that the token's key was not dropped, and that its
// grant is live. The error is that of verifier.Verifier.Verify.
func (i *Issuer) access(ctx context.Context, token string) (*verifier.Claims, ledger.AccessRef, error) {
	v, err := i.accessVerifier()
	if err != nil {
		return nil, ledger.AccessRef{}, err
	}
	claims, err := v.Verify(ctx, token)
	if err != nil {
		return nil, ledger.AccessRef{}, err
	}
	ref, ok := credential.AccessRef(token, claims.GrantID())
	if !ok {
		return nil, ref, verifier.ErrInvalid
	}
	return claims, ref, nil
}

// accessVerifier returns the verifier for the current settings. It is made again only when
// they change.
func (i *Issuer) accessVerifier() (*verifier.Verifier, error) {
	s := i.View().Settings()
	if v := i.verifier.Load(); v != nil && v.settings == s {
		return v.Verifier, nil
	}
	v, err := verifier.New(verifier.Config{Issuer: s.BaseURL, SkipAudience: true, Keys: i.Keyring, Now: i.Clock})
	if err != nil {
		return nil, err
	}
	i.verifier.Store(&accessVerifier{s, v})
	return v, nil
}
