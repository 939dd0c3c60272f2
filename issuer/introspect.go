package issuer

import (
	"context"
	"errors"
	"fmt"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// Introspect handles an introspection request (RFC 7662 §2): a client learns about its own
// tokens, a resource server about access tokens that are for it or for the cluster's audience.
// It authenticates and answers on one view that includes every command that was answered
// before, such as a revocation at another node. Errors are like those of Token.
func (i *Issuer) Introspect(ctx context.Context, r oauth.PresentedToken) (oauth.Introspection, error) {
	if err := i.upgradeSecret(ctx, r.Client, true); err != nil {
		return oauth.Introspection{}, err
	}
	reader, auth, v, err := i.authenticateReader(ctx, r.Client, ledger.View.AuthenticateTokenReader)
	if err != nil {
		return oauth.Introspection{}, err
	}
	var t *oauth.ActiveToken
	claims, ref, err := i.access(ctx, r.Token)
	switch {
	case errors.Is(err, verifier.ErrKeysUnavailable):
		return oauth.Introspection{}, fmt.Errorf("%w: %w", oauth.ErrUnavailable, err)
	case err == nil:
		t = i.activeAccess(v, claims, ref)
	case reader.Client != nil:
		if t, err = i.activeRefresh(ctx, v, auth, r.Token); err != nil {
			return oauth.Introspection{}, err
		}
	}
	switch {
	case t == nil:
		return oauth.Introspection{}, nil
	case reader.Resource != nil && t.Audience != v.Settings().Audience && t.Audience != reader.Resource.ID:
		return oauth.Introspection{}, nil // it is for another resource server
	case reader.Resource != nil:
		t.Scope = reader.Resource.ScopeFor(t.Scope)
	case t.ClientID != reader.Client.ID:
		return oauth.Introspection{}, nil
	}
	return oauth.Introspection{Active: true, ActiveToken: t}, nil
}

// AuthenticateFeedReader authenticates a resource server that reads the feed of revocations,
// and returns its identifier URI. Errors are like those of Token. A node without contact to the
// leader authenticates on its own view: the feed there has nothing that was revoked since, and
// its document says so.
func (i *Issuer) AuthenticateFeedReader(ctx context.Context, c oauth.ClientCredentials) (string, error) {
	if !i.InTouch() {
		if reader, cause, _ := i.View().AuthenticateFeedReader(i.clientAuth(c, oauth.MaxResource)); cause == ledger.NoCause {
			return reader.Resource.ID, nil
		}
	}
	reader, _, _, err := i.authenticateReader(ctx, c, ledger.View.AuthenticateFeedReader)
	if err != nil {
		return "", err
	}
	return reader.Resource.ID, nil
}

// KnowsSecret reports whether this node's own view has an active secret of a client or resource
// server that is the presented one.
func (i *Issuer) KnowsSecret(c oauth.ClientCredentials) bool {
	_, cause, _ := i.View().AuthenticateTokenReader(i.clientAuth(c, oauth.MaxResource))
	return cause == ledger.NoCause
}

// authenticateReader authenticates on a fresh view, which it returns. A sender who is unknown
// to this node's own view has proved nothing, so it shares the bounded number of fresh views
// of such senders.
func (i *Issuer) authenticateReader(ctx context.Context, c oauth.ClientCredentials, authenticate func(ledger.View, ledger.ClientAuth) (ledger.TokenReader, ledger.Cause, bool)) (ledger.TokenReader, ledger.ClientAuth, ledger.View, error) {
	refused := func(cause ledger.Cause) error {
		return i.publicError(c.ID, ledger.Refusal{Code: oauth.InvalidClient, Cause: cause})
	}
	auth := i.clientAuth(c, oauth.MaxResource)
	reader, cause, again := authenticate(i.View(), auth)
	if again { // the secret is recorded under a key that this node has not opened yet
		if err := i.Keyring.Reload(ctx); err != nil {
			return reader, auth, ledger.View{}, err
		}
		auth = i.clientAuth(c, oauth.MaxResource)
		reader, cause, _ = authenticate(i.View(), auth)
	}
	fresh := i.ViewFresh
	switch {
	case cause != ledger.NoCause && c.Secret == "":
		return reader, auth, ledger.View{}, refused(cause) // nobody is admitted without a secret
	case cause != ledger.NoCause:
		fresh = i.ViewPaced
	}
	v, err := fresh(ctx)
	if err != nil {
		return reader, auth, v, err
	}
	reader, cause, again = authenticate(v, auth)
	switch {
	case again:
		return reader, auth, v, oauth.ErrUnavailable
	case cause != ledger.NoCause:
		return reader, auth, v, refused(cause)
	}
	i.queueSecretUse(v, reader, auth)
	return reader, auth, v, nil
}

// activeAccess returns the response for a verified access token, or nil if it is not active.
func (i *Issuer) activeAccess(v ledger.View, c *verifier.Claims, ref ledger.AccessRef) *oauth.ActiveToken {
	g := v.Grant(ref.Grant)
	switch {
	case i.Now().Unix() >= c.ExpiresAt().Unix(): // the verifier allows for clocks that differ
	case v.Key(ref.Key) == nil: // dropped, so anybody may have signed the token
	case g == nil: // it ended long ago, or was lost in a restore
	case v.TokensRevoked(ref.Grant) != ledger.NoCause:
	default:
		t := activeToken(c)
		if t.Scope = v.CutScope(g, t.Scope); t.Scope == "" && !t.Legacy {
			return nil
		}
		return t
	}
	return nil
}

func activeToken(c *verifier.Claims) *oauth.ActiveToken {
	return &oauth.ActiveToken{
		Scope: c.ScopeText(), ClientID: c.ClientID(), TokenType: oauth.TokenTypeBearer,
		ExpiresAt: c.ExpiresAt().Unix(), IssuedAt: c.IssuedAt().Unix(),
		Subject: c.Subject(), Audience: c.Audience()[0], Issuer: c.Issuer(), ID: c.ID(),
		Legacy: c.Legacy(), GrantID: c.GrantID(),
	}
}

// activeRefresh returns the response for a refresh token, or nil if a refresh with it would
// be refused now. A token that was used is not active, even while a refresh with it may be
// repeated.
func (i *Issuer) activeRefresh(ctx context.Context, v ledger.View, auth ledger.ClientAuth, token string) (*oauth.ActiveToken, error) {
	ref, err := credential.ParseRefresh(token, i.Keyring.Ring().ChainMAC)
	if errors.Is(err, credential.ErrUnknownKey) {
		if err := i.Keyring.Reload(ctx); err != nil {
			return nil, err
		}
		ref, err = credential.ParseRefresh(token, i.Keyring.Ring().ChainMAC)
	}
	if err != nil {
		return nil, nil // not a refresh token of this server
	}
	m := command.Meta{At: int64(i.Now()), Halted: i.Node.LastMeta().Halted}
	outcome := v.Decide(&ledger.Refresh{ClientAuth: auth, Credential: &ref}, m)
	switch o := outcome.Issued; {
	case outcome.Unknown:
		return nil, oauth.ErrUnavailable
	case o == nil || o.Retry:
		return nil, nil
	default:
		g := v.Grant(ref.Grant)
		return &oauth.ActiveToken{
			Scope: o.Scope, ClientID: o.Client, ExpiresAt: v.RefreshExpires(g).Unix(), IssuedAt: g.Spent.Unix(),
			Subject: o.User, Issuer: v.Settings().BaseURL, Legacy: o.Legacy, GrantID: o.Grant.String(),
		}, nil
	}
}
