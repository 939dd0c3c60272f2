package issuer

import (
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

// Token answers a token request: propose, then mint what the outcome names.
// A refusal is an *oauth.Error with its error_id; oauth.ErrUnavailable says
// that nothing could be decided; any other error is this server's fault.
func (i *Issuer) Token(ctx context.Context, r oauth.TokenRequest) (oauth.TokenResponse, error) {
	cmd, parse := i.command(r)
	if errors.Is(parse, credential.ErrUnknownKey) {
		// Minted under a key that this node may not have heard of yet.
		if err := i.Keyring.Reload(ctx); err != nil {
			return oauth.TokenResponse{}, err
		}
		cmd, parse = i.command(r)
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
		refused.Genuine = parse == nil && refused.Code == oauth.InvalidGrant
		return oauth.TokenResponse{}, refused
	}
	response, err := i.mint(ctx, outcome.Issued, index)
	if err == nil {
		i.config.Observer.Issued(r.GrantType, outcome.Issued.Retry, outcome.Issued.Shared)
	}
	return response, err
}

// decideInvalid decides on a request whose code or token was not made by this server.
// The MAC shows that, so nothing has to go through the log; only the error depends on
// the client's authentication. The node decides by its own view, without the leader,
// unless the client's secret was right. An error other than invalid_client reveals that
// it was, so it must come from a fresh view: on a node without contact to the leader, the
// secret may have been revoked since.
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

// command is the decision that the request asks for. The error is why the presented
// code or token is no credential of this server; the command then has no reference to
// one, and is refused.
func (i *Issuer) command(r oauth.TokenRequest) (command.Command, error) {
	ring := i.Keyring.Ring()
	auth := ledger.ClientAuth{Client: r.Client.ID, Secret: r.Client.Secret != ""}
	if len(auth.Client) > ledger.MaxID {
		auth.Client = "" // no client has it
	}
	if auth.Secret {
		auth.Digests = ring.Digests(r.Client.Secret)
	}
	if r.GrantType == oauth.AuthorizationCode {
		ref, err := credential.ParseCode(r.Code, ring.ChainMAC)
		return &ledger.Exchange{
			ClientAuth: auth, Credential: genuine(ref, err),
			Redirect: sha256.Sum256([]byte(r.RedirectURI)), Challenge: challengeOf(r.CodeVerifier),
		}, err
	}
	ref, err := credential.ParseRefresh(r.RefreshToken, ring.ChainMAC)
	c := &ledger.Refresh{ClientAuth: auth, Credential: genuine(ref, err), Scope: scopeOf(r.Scope)}
	c.Unspent = c.Credential != nil && i.View().Unspent(*c.Credential, command.Meta{At: int64(i.Now()), Halted: i.Node.Halted()})
	return c, err
}

// genuine is the reference in a parsed credential, nil if the credential is invalid.
func genuine(ref ledger.CredentialRef, err error) *ledger.CredentialRef {
	if err != nil {
		return nil
	}
	return &ref
}

// scopeOf is the scope that was asked for as a command carries it: each name
// once, so that what a stranger sends can't swell the log.
func scopeOf(asked string) string {
	_, text, err := scope.Parse(asked)
	if err != nil {
		return ledger.UnknownScope
	}
	return text
}

// challengeOf is the challenge of a code_verifier as a command carries it.
func challengeOf(verifier string) string {
	if verifier == "" {
		return ""
	}
	if challenge, ok := oauth.S256(verifier); ok {
		return challenge
	}
	return ledger.BadVerifier
}

// mint makes the two tokens of an outcome, with the keys that it names.
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
		Issuer: s.BaseURL, Subject: o.User, Audience: s.Audience, ClientID: o.Client,
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

// Code mints the authorization code of an Allow, which was decided at index.
func (i *Issuer) Code(ctx context.Context, o *ledger.Issued, index uint64) (credential.Code, error) {
	key, err := i.Keyring.Credential(ctx, o.CredentialKey, index)
	if err != nil {
		return credential.Code{}, err
	}
	return credential.MintCode(key.Chain, ledger.CredentialRef{Key: o.CredentialKey, Grant: o.Grant}), nil
}
