package issuer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Token handles a token request: it proposes the command, then mints what the outcome
// names. The error is an *oauth.Error with its error_id for a refusal,
// oauth.ErrUnavailable if nothing could be decided, and otherwise an internal error.
func (i *Issuer) Token(ctx context.Context, r oauth.TokenRequest) (oauth.TokenResponse, error) {
	cmd, parse := i.command(r)
	if errors.Is(parse, credential.ErrUnknownKey) {
		// The credential may be under a key that this node doesn't know yet.
		if err := i.Keyring.Reload(ctx); err != nil {
			return oauth.TokenResponse{}, err
		}
		cmd, parse = i.command(r)
	}
	if err := i.upgradeSecret(ctx, r.Client, parse == nil); err != nil {
		return oauth.TokenResponse{}, err
	}
	var outcome ledger.Outcome
	var index uint64
	if parse == nil {
		var err error
		if outcome, index, err = i.Propose(ctx, cmd); err != nil {
			return oauth.TokenResponse{}, err
		}
	} else {
		var err error
		if outcome, err = i.decideInvalid(ctx, cmd, r.Client.Secret != ""); err != nil {
			return oauth.TokenResponse{}, err
		}
		if outcome.Refusal.Cause == ledger.NotACredential && errors.Is(parse, credential.ErrWrongKind) {
			outcome.Refusal.Cause = ledger.WrongKind
		}
	}
	if outcome.Refusal != nil {
		refused := i.publicError(r.Client.ID, *outcome.Refusal)
		// NotACredential about a code or token that this server issued: it is another client's.
		refused.Genuine = parse == nil && refused.Code == oauth.InvalidGrant && outcome.Refusal.Cause != ledger.NotACredential
		return oauth.TokenResponse{}, refused
	}
	response, err := i.mint(ctx, outcome.Issued, index)
	if err == nil {
		i.config.Observer.Issued(r.GrantType, outcome.Issued.Retry, outcome.Issued.Shared)
		if r.GrantType == oauth.RefreshToken && !outcome.Issued.Retry {
			i.countRefresh(ledger.ClientKey(outcome.Issued.Client))
		}
	}
	return response, err
}

// decideInvalid decides a request whose code or token was not issued by this server. The
// MAC proves that, so nothing has to go through the log; only the error depends on the
// client's authentication. The node decides on its own view, without the leader, unless
// the client's secret was correct. An error other than invalid_client reveals that it was,
// so it must come from a fresh view: on a node without contact to the leader, the secret
// may have been revoked since.
func (i *Issuer) decideInvalid(ctx context.Context, c command.Command, secret bool) (ledger.Outcome, error) {
	outcome := i.View().Decide(c, command.Meta{At: int64(i.Now())})
	if secret && outcome.Refusal != nil && outcome.Refusal.Code != oauth.InvalidClient {
		v, err := i.ViewFresh(ctx)
		if err != nil {
			return outcome, err
		}
		outcome = v.Decide(c, command.Meta{At: int64(i.Now())})
	}
	if outcome.Unknown {
		return outcome, oauth.ErrUnavailable
	}
	return outcome, nil
}

// command returns the command for a request. The error is why the presented code or token
// is not a credential of this server; the command then has no reference to one, and is
// refused.
func (i *Issuer) command(r oauth.TokenRequest) (command.Command, error) {
	ring, auth := i.Keyring.Ring(), i.tokenClient(r.Client)
	if r.GrantType == oauth.AuthorizationCode {
		ref, err := credential.ParseCode(r.Code, ring.ChainMAC)
		return &ledger.Exchange{
			ClientAuth: auth, Credential: genuine(ref, err),
			Redirect: sha256.Sum256([]byte(r.RedirectURI)), Challenge: challengeOf(r.CodeVerifier), Resource: resourceOf(r.Resource),
		}, err
	}
	ref, err := credential.ParseRefresh(r.RefreshToken, ring.ChainMAC)
	c := &ledger.Refresh{ClientAuth: auth, Credential: genuine(ref, err), Scope: scopeOf(r.Scope), Resource: resourceOf(r.Resource)}
	c.Unspent = c.Credential != nil && i.View().Unspent(*c.Credential, i.Node.LastMeta())
	return c, err
}

// tokenClient is clientAuth for a client, which may have a metadata document. The document is
// never fetched here.
func (i *Issuer) tokenClient(c oauth.ClientCredentials) ledger.ClientAuth {
	c.ID = ledger.ClientKey(c.ID)
	return i.clientAuth(c, ledger.MaxID)
}

// clientAuth returns credentials in the form of a command, without an id that is longer than
// any that is registered.
func (i *Issuer) clientAuth(c oauth.ClientCredentials, longest int) ledger.ClientAuth {
	auth := ledger.ClientAuth{Client: c.ID, Secret: c.Secret != ""}
	if len(auth.Client) > longest {
		auth.Client = ""
	}
	if auth.Secret {
		auth.Digests = i.Keyring.Ring().Digests(c.Secret)
	}
	return auth
}

// genuine returns the reference in a parsed credential, or nil if the credential is
// invalid.
func genuine(ref ledger.CredentialRef, err error) *ledger.CredentialRef {
	if err != nil {
		return nil
	}
	return &ref
}

// scopeOf returns the requested scope in the form of a command: each name once, so that a
// request can't enlarge the log.
func scopeOf(asked string) string {
	_, text, err := scope.Parse(asked)
	if err != nil {
		return ledger.UnknownScope
	}
	return text
}

// resourceOf returns the parameter resource in the form of a command, without one that is
// longer than an identifier with a slash.
func resourceOf(asked string) string {
	if len(asked) > oauth.MaxResource+1 {
		return ledger.UnknownResource
	}
	return asked
}

// challengeOf returns the challenge of a code_verifier in the form of a command.
func challengeOf(verifier string) string {
	if verifier == "" {
		return ""
	}
	if challenge, ok := oauth.S256(verifier); ok {
		return challenge
	}
	return ledger.BadVerifier
}

// mint mints the two tokens of an outcome, with the keys that it names.
func (i *Issuer) mint(ctx context.Context, o *ledger.Issued, index uint64) (oauth.TokenResponse, error) {
	signer, err := i.Keyring.Signer(ctx, o.SigningKey, index)
	if err != nil {
		return oauth.TokenResponse{}, err
	}
	key, err := i.Keyring.Credential(ctx, o.CredentialKey, index)
	if err != nil {
		return oauth.TokenResponse{}, err
	}
	var jti [16]byte
	if _, err := io.ReadFull(i.config.Rand, jti[:]); err != nil {
		return oauth.TokenResponse{}, fmt.Errorf("make a token id: %w", err)
	}
	s := i.View().Settings()
	access, err := credential.MintAccess(signer, credential.AccessClaims{
		Issuer: s.BaseURL, Subject: o.User, Audience: cmp.Or(o.Audience, s.Audience), ClientID: o.Client,
		Scope: o.Scope, Legacy: o.Legacy, GrantID: o.Grant.String(), ID: hex.EncodeToString(jti[:]),
		IssuedAt: o.At.Unix(), ExpiresAt: o.At.Unix() + oauth.AccessTokenLifetime,
	})
	if err != nil {
		return oauth.TokenResponse{}, fmt.Errorf("mint an access token: %w", err)
	}
	refresh := credential.MintRefresh(key.Chain, ledger.CredentialRef{
		Key: o.CredentialKey, Grant: o.Grant, Generation: o.Generation,
	})
	return oauth.TokenResponse{
		AccessToken:  access.Reveal(),
		RefreshToken: refresh.Reveal(),
		TokenType:    oauth.TokenTypeBearer,
		ExpiresIn:    oauth.AccessTokenLifetime,
		Scope:        o.Scope,
	}, nil
}

// Code mints the authorization code of an Allow that was decided at index.
func (i *Issuer) Code(ctx context.Context, o *ledger.Issued, index uint64) (credential.Code, error) {
	key, err := i.Keyring.Credential(ctx, o.CredentialKey, index)
	if err != nil {
		return credential.Code{}, err
	}
	return credential.MintCode(key.Chain, ledger.CredentialRef{Key: o.CredentialKey, Grant: o.Grant}), nil
}
