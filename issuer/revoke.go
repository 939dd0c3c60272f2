package issuer

import (
	"context"
	"errors"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// Revoke handles a revocation request (RFC 7009 §2.1). The error is an *oauth.Error with
// its error_id for a refusal, oauth.ErrUnavailable if nothing could be decided, and
// otherwise an internal error. The error oauth.InvalidGrant means that the value is not a
// token of the client, so that there is nothing to revoke.
func (i *Issuer) Revoke(ctx context.Context, r oauth.PresentedToken) error {
	cmd, parse := i.revocation(ctx, r)
	if errors.Is(parse, credential.ErrUnknownKey) {
		// The token may be under a key that this node doesn't know yet.
		if err := i.Keyring.Reload(ctx); err != nil {
			return err
		}
		cmd, parse = i.revocation(ctx, r)
	}
	if err := i.upgradeSecret(ctx, r.Client, parse == nil); err != nil {
		return err
	}
	var outcome ledger.Outcome
	var err error
	switch {
	case errors.Is(parse, verifier.ErrKeysUnavailable):
		return fmt.Errorf("%w: %w", oauth.ErrUnavailable, parse)
	case parse == nil:
		outcome, _, err = i.Propose(ctx, cmd)
	default:
		outcome, err = i.decideInvalid(ctx, cmd, r.Client.Secret != "")
	}
	if err != nil || outcome.Refusal == nil {
		return err
	}
	refused := i.publicError(r.Client.ID, *outcome.Refusal)
	// Only the client's own token is genuine here: whether another client's is counted as a
	// failure would tell whether this server issued it.
	switch refused.Code {
	case oauth.UnsupportedTokenType:
		refused.Genuine = true
	case oauth.InvalidGrant:
		var expired *verifier.Error
		refused.Genuine = errors.As(parse, &expired) && expired.Claims != nil && expired.Claims.ClientID() == r.Client.ID
	}
	return refused
}

// revocation returns the command for a request. The error is why the presented value is not
// a token of this server; the command then has no reference to one, and revokes nothing. The
// two kinds of tokens have different forms, so a hint is not needed.
func (i *Issuer) revocation(ctx context.Context, r oauth.PresentedToken) (*ledger.RevokeToken, error) {
	ring := i.Keyring.Ring()
	c := &ledger.RevokeToken{ClientAuth: i.tokenClient(r.Client)}
	ref, err := credential.ParseRefresh(r.Token, ring.ChainMAC)
	if c.Refresh = genuine(ref, err); !errors.Is(err, credential.ErrMalformed) {
		return c, err
	}
	_, access, err := i.access(ctx, r.Token)
	if err == nil {
		c.Access = &access
	}
	return c, err
}
