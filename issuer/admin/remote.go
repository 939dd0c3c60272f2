package admin

import (
	"context"
	"crypto/hmac"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A Remote serves the operations to operators on other machines, over TLS. Each request is
// authenticated by a token or by the client certificate of its connection.
type Remote struct {
	Config
	// Authority returns the certificates of the operators' authority, or nil if
	// certificates are not accepted. It is called for each request that has one.
	Authority func() *x509.CertPool
	// Refused is called for each request that is refused because of its token, its
	// certificate or their scopes. operator names a valid token or certificate; it is ""
	// for others, and never has text that the sender chose.
	Refused func(r *http.Request, cause ledger.Cause, operator string)
}

// NewRemoteHandler serves the operations that a Remote allows. The TLS configuration of the
// server must request client certificates without verifying them.
func NewRemoteHandler(c Remote) http.Handler {
	h := newHandler(c.Config, routes)
	h.remote = &c
	return h
}

// crossOrigin detects requests that a browser sends for a page of another origin, with the
// certificate of its user.
var crossOrigin = http.NewCrossOriginProtection()

// authenticate sets the actor of c and returns its scopes. It doesn't read the body.
func (h *handler) authenticate(c *call, r *http.Request) (scopes []ledger.OperatorScope, err error) {
	var cause ledger.Cause
	switch {
	case crossOrigin.Check(r) != nil:
		h.remote.Refused(r, ledger.OperatorCrossOrigin, "")
		return nil, &Problem{Class: Forbidden, Cause: ledger.OperatorCrossOrigin, Text: ledger.OperatorCrossOrigin.String()}
	case len(r.Header.Values("Authorization")) > 0:
		scopes, cause, err = h.authenticateToken(c, r)
	case r.TLS != nil && len(r.TLS.PeerCertificates) > 0:
		scopes, cause = h.authenticateCertificate(c, r.TLS.PeerCertificates)
	default:
		cause = ledger.OperatorUnauthenticated
	}
	switch {
	case err != nil:
		return nil, err
	case cause != ledger.NoCause:
		h.remote.Refused(r, cause, c.operator)
		return nil, &Problem{Class: Unauthenticated, Cause: cause, Text: cause.String()}
	}
	return scopes, nil
}

// authenticateToken decides on a fresh view, so that a token that was revoked on any node is
// refused. Text that is no token of this cluster costs at most a share of a paced view.
func (h *handler) authenticateToken(c *call, r *http.Request) ([]ledger.OperatorScope, ledger.Cause, error) {
	token := bearerToken(r.Header.Values("Authorization"))
	if !credential.IsOperatorToken(token) {
		return nil, ledger.OperatorTokenUnknown, nil
	}
	id := credential.OperatorTokenID(token)
	v := h.Ledger.View()
	t := v.OperatorToken(id)
	if t == nil { // it may have been added a moment ago
		var err error
		if v, err = h.Ledger.ViewPaced(r.Context()); err != nil {
			return nil, 0, unchecked(err)
		}
		if t = v.OperatorToken(id); t == nil {
			return nil, ledger.OperatorTokenUnknown, nil
		}
	}
	digest, ok := h.Digest(t.Key, token)
	if !ok || !hmac.Equal(digest[:], t.Digest[:]) {
		return nil, ledger.OperatorTokenUnknown, nil
	}
	c.operator = ledger.Actor{Operator: true, Token: id}.Name(v)
	now := h.Ledger.Now()
	if cause := v.OperatorTokenCause(t, now); cause != ledger.NoCause {
		return nil, cause, nil
	}
	v, err := h.Ledger.ViewFresh(r.Context())
	if err != nil {
		return nil, 0, unchecked(err)
	}
	t = v.OperatorToken(id)
	if cause := v.OperatorTokenCause(t, now); cause != ledger.NoCause {
		return nil, cause, nil
	}
	c.actor.Token = id
	if t.UseDue(now) {
		c.recordTokenUse(r.Context())
	}
	return t.Scopes, ledger.NoCause, nil
}

// unchecked returns the error for a token that could not be checked, since another node may
// have revoked it.
func unchecked(err error) error {
	if errors.Is(err, oauth.ErrUnavailable) {
		return ofError(Unavailable, ErrTokenUnchecked)
	}
	return fmt.Errorf("read: %w", err)
}

// recordTokenUse records the use of a token. A failure is only logged: the next use tries again.
func (c *call) recordTokenUse(ctx context.Context) {
	if _, _, err := c.Ledger.Propose(ctx, &ledger.RecordOperation{Actor: c.actor}); err != nil {
		c.Log.DebugContext(ctx, "use of an operator token not recorded", "operator", c.operator, "error", err)
	}
}

// bearerToken returns the token of an Authorization header (RFC 6750 §2.1), or "".
func bearerToken(headers []string) string {
	if len(headers) != 1 {
		return ""
	}
	scheme, token, ok := strings.Cut(headers[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// authenticateCertificate verifies the certificate of a connection, at each request: the
// authority may have changed since, and the certificate have expired. The operator's name is
// the common name of the subject, and the scopes are its organizational units; other units
// have no meaning.
func (h *handler) authenticateCertificate(c *call, chain []*x509.Certificate) ([]ledger.OperatorScope, ledger.Cause) {
	var roots *x509.CertPool
	if h.remote.Authority != nil {
		roots = h.remote.Authority()
	}
	leaf := chain[0]
	if roots == nil || !ledger.ValidOperatorName(leaf.Subject.CommonName) {
		return nil, ledger.OperatorCertificateRefused
	}
	between := x509.NewCertPool()
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: h.Ledger.Now().Std(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}); err != nil || !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageClientAuth) { // Verify accepts a certificate that names no usage

		return nil, ledger.OperatorCertificateRefused
	}
	c.actor.Certificate = leaf.Subject.CommonName
	c.operator = c.actor.Name(h.Ledger.View())
	var scopes []ledger.OperatorScope
	for _, s := range ledger.OperatorScopes {
		if slices.Contains(leaf.Subject.OrganizationalUnit, string(s)) {
			scopes = append(scopes, s)
		}
	}
	return scopes, ledger.NoCause
}

// authorize refuses an operation that the operator has no scope for.
func (h *handler) authorize(c *call, r *http.Request, to route, scopes []ledger.OperatorScope) error {
	if to.scope == localOnly {
		h.remote.Refused(r, ledger.LocalOnly, c.operator)
		return errLocalOnly
	}
	return h.requireScope(c, r, to.scope, scopes)
}

func (h *handler) requireScope(c *call, r *http.Request, needed ledger.OperatorScope, scopes []ledger.OperatorScope) error {
	if slices.Contains(scopes, needed) {
		return nil
	}
	h.remote.Refused(r, ledger.OperatorScopeMissing, c.operator)
	return &Problem{
		Class: Forbidden, Subject: c.name, Cause: ledger.OperatorScopeMissing, Text: ledger.OperatorScopeMissing.String(), Note: string(needed),
	}
}

var errLocalOnly = &Problem{Class: Forbidden, Code: ErrLocalOnly.Code(), Cause: ledger.LocalOnly, Text: ErrLocalOnly.Error()}

// check refuses an operation that the Caller's server would refuse in any case.
func (c *Caller) check(operation string) error {
	if c.remote && slices.ContainsFunc(routes, func(r route) bool { return r.name == operation && r.scope == localOnly }) {
		return errLocalOnly
	}
	return nil
}
