package upstream

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// An Answer has the parameters of the authorization response, as the browser sent them.
// The caller verifies its state.
type Answer struct {
	Code   string
	Error  string
	Issuer string // "" if the response has none (RFC 9207)
}

// Finish exchanges the code and returns the authenticated person. Checks are in the order
// of OpenID Connect Core §3.1.2.7 and the following sections.
func (p *Provider) Finish(ctx context.Context, a Answer, proofs AuthRequest) (Person, error) {
	m := p.metadata.Load()
	if m == nil {
		return Person{}, ErrUnreachable
	}
	// RFC 9207 §2.4
	if a.Issuer != "" && a.Issuer != p.config.Issuer || a.Issuer == "" && m.sendsIss {
		return Person{}, errors.New("response from another issuer")
	}
	switch {
	case a.Error != "":
		return Person{}, &Denial{Code: a.Error}
	case a.Code == "":
		return Person{}, errors.New("response without a code")
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), waitAnswer)
	defer cancel()
	client := m.oauth
	client.ClientSecret = *p.secret.Load()
	tokens, err := client.Exchange(ctx, a.Code, oauth2.VerifierOption(proofs.Verifier))
	if err != nil {
		return Person{}, exchangeError(err)
	}
	id, claims, err := p.identify(ctx, m, tokens, proofs)
	if err != nil {
		return Person{}, err
	}
	more, err := userInfo(ctx, m, tokens, id.Subject)
	if err != nil {
		return Person{}, err
	}
	return p.person(id.Subject, claims, more), nil
}

// exchangeError contains no text of the provider except the error code, if it is one of
// RFC 6749 §5.2: other text could repeat what this service sent.
func exchangeError(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		code := "an error"
		if slices.Contains([]string{
			"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
		}, refused.ErrorCode) {
			code = refused.ErrorCode
		}
		return fmt.Errorf("exchange code: provider returned %s", code)
	}
	if down := unreachable("exchange code", err); down != nil {
		return down
	}
	return errors.New("exchange code: invalid response")
}

// unreachable returns an ErrUnreachable if a request got no response, and otherwise nil.
// The address in the error is an endpoint of the provider.
func unreachable(doing string, err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w: %w", doing, ErrUnreachable, failed)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w: %w", doing, ErrUnreachable, err)
	}
	return nil
}

// identify validates the ID token (OpenID Connect Core §3.1.3.7): the library its
// signature, issuer, audience and expiry, and this function everything else.
func (p *Provider) identify(ctx context.Context, m *metadata, tokens *oauth2.Token, proofs AuthRequest) (*oidc.IDToken, claims, error) {
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return nil, nil, errors.New("no ID token")
	}
	id, err := m.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, nil, truncateError("verify ID token", err)
	}
	var all claims
	if err := id.Claims(&all); err != nil {
		return nil, nil, truncateError("parse ID token", err)
	}
	azp, said := all["azp"]
	switch {
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(proofs.Nonce)) != 1:
		return nil, nil, errors.New("ID token has another nonce")
	case id.Issuer != p.config.Issuer: // the library accepts another issuer for one provider
		return nil, nil, errors.New("ID token from another issuer")
	case id.Subject == "":
		return nil, nil, errors.New("ID token without a subject")
	case said && azp != p.config.ClientID, !said && len(id.Audience) > 1:
		return nil, nil, errors.New("ID token is also for another client")
	case id.AccessTokenHash != "" && id.VerifyAccessToken(tokens.AccessToken) != nil:
		return nil, nil, errors.New("access token does not match the ID token")
	}
	if err := all.authenticatedSince(proofs.Since, p.config.Now()); err != nil {
		return nil, nil, fmt.Errorf("verify ID token: %w", err)
	}
	return id, all, nil
}

// authTimeSkew is how much the provider's clock may differ from this node's.
const authTimeSkew = time.Minute

// authenticatedSince verifies that auth_time is between since and now, to within
// authTimeSkew. An ID token must have auth_time if the request had max_age (OpenID Connect
// Core §2 and §3.1.3.7). A zero since accepts every token.
func (c claims) authenticatedSince(since, now time.Time) error {
	switch at := c.time("auth_time"); {
	case since.IsZero():
	case at.IsZero():
		return fmt.Errorf("%w: auth_time is missing", ErrNotReauthenticated)
	case at.Before(since.Add(-authTimeSkew)):
		return fmt.Errorf("%w: auth_time is before the request", ErrNotReauthenticated)
	case at.After(now.Add(authTimeSkew)):
		return fmt.Errorf("%w: auth_time is in the future", ErrNotReauthenticated)
	}
	return nil
}

// userInfo fetches the claims of the requested scopes: in the code flow they are not in
// the ID token (OpenID Connect Core §5.4). A provider without this endpoint has all claims
// in the ID token.
func userInfo(ctx context.Context, m *metadata, tokens *oauth2.Token, subject string) (claims, error) {
	if m.provider.UserInfoEndpoint() == "" {
		return nil, nil
	}
	said, err := m.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		if down := unreachable("fetch profile", err); down != nil {
			return nil, down
		}
		return nil, errors.New("fetch profile: invalid response")
	}
	if said.Subject != subject { // OpenID Connect Core §5.3.2
		return nil, errors.New("profile of another subject")
	}
	var all claims
	if err := said.Claims(&all); err != nil {
		return nil, errors.New("fetch profile: invalid response")
	}
	return all, nil
}
