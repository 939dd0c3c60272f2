// Package upstreamtest simulates an OpenID Connect provider over HTTP for tests, including
// its possible errors. The behaviour of a real provider is tested in cmd/mintmark/e2e.
package upstreamtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"
)

// Registration of the service under test at the provider.
const (
	ClientID     = "mintmark & friends"
	ClientSecret = "s3cret/+: of the client"
)

// Claims are the claims of an ID token or a profile.
type Claims = map[string]any

// A Provider runs until the test ends. Its fields may be changed between requests.
type Provider struct {
	URL string // the issuer
	t   testing.TB
	now func() time.Time
	key *ecdsa.PrivateKey

	mu        sync.Mutex // guards the fields below while the provider handles a request
	Metadata  func(Claims)
	Profile   Claims       // of every user, in addition to sub
	ID        func(Claims) // changes an ID token before it is signed
	Sign      func(text string) string
	Answer    map[string]http.HandlerFunc // replaces the provider's own handlers, by path
	codes     map[string]request
	requested []string // paths, in order
}

// A request is the part of an authorization request that the provider remembers.
type request struct {
	subject, nonce, challenge, redirectURI string
	reauth                                 bool // the request had max_age=0
}

// New starts a provider whose ID tokens expire by the clock now.
func New(t testing.TB, now func() time.Time) *Provider {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	p := &Provider{t: t, now: now, key: key, codes: map[string]request{}, Answer: map[string]http.HandlerFunc{}}
	s := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(s.Close)
	p.URL = s.URL
	return p
}

// Requests returns how often a path was requested.
func (p *Provider) Requests(path string) (times int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, asked := range p.requested {
		if asked == path {
			times++
		}
	}
	return times
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requested = append(p.requested, r.URL.Path)
	own := p.Answer[r.URL.Path]
	p.mu.Unlock()
	if own != nil {
		own(w, r)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		said := Claims{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
			"jwks_uri": p.URL + "/keys", "userinfo_endpoint": p.URL + "/me",
			"id_token_signing_alg_values_supported": []string{"ES256", "none"}, "authorization_response_iss_parameter_supported": true,
		}
		if p.Metadata != nil {
			p.Metadata(said)
		}
		reply(w, said)
	case "/keys":
		x, y := coordinates(p.key)
		reply(w, Claims{"keys": []Claims{{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "k", "x": x, "y": y}}})
	case "/token":
		p.token(w, r)
	case "/me":
		subject, ok := parseBearer(r)
		if !ok {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		profile := Claims{"sub": subject}
		maps.Copy(profile, p.Profile)
		reply(w, profile)
	default:
		http.NotFound(w, r)
	}
}

// SignIn simulates the user and the provider's pages: it parses the authorization request
// in location, and returns the query of the redirect back.
func (p *Provider) SignIn(location, subject string) url.Values {
	p.t.Helper()
	u, err := url.Parse(location)
	require.NoError(p.t, err)
	require.Equal(p.t, p.URL+"/authorize", u.Scheme+"://"+u.Host+u.Path)
	q := u.Query()
	require.Equal(p.t, "code", q.Get("response_type"))
	require.Equal(p.t, ClientID, q.Get("client_id"))
	require.Equal(p.t, "S256", q.Get("code_challenge_method"))
	require.Contains(p.t, q.Get("scope"), "openid")
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		require.Len(p.t, q.Get(name), 43, name)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	code := rand.Text()
	p.codes[code] = request{subject, q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("max_age") == "0"}
	return url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}
}

// token verifies a request by RFC 6749 §4.1.3 and RFC 7636 §4.6.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		reply(w, Claims{"error": code, "error_description": "the code was " + r.FormValue("code")})
	}
	id, secret, _ := r.BasicAuth()
	if id != url.QueryEscape(ClientID) || secret != url.QueryEscape(ClientSecret) {
		refuse("invalid_client")
		return
	}
	asked, ok := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.challenge || r.FormValue("redirect_uri") != asked.redirectURI {
		refuse("invalid_grant")
		return
	}
	now := p.now().Unix()
	claims := Claims{"iss": p.URL, "aud": ClientID, "sub": asked.subject, "nonce": asked.nonce, "iat": now, "exp": now + 60}
	if asked.reauth {
		claims["auth_time"] = now // the user of the test authenticates at once
	}
	if p.ID != nil {
		p.ID(claims)
	}
	text, err := json.Marshal(claims)
	require.NoError(p.t, err)
	sign := p.Sign
	if sign == nil {
		sign = func(text string) string { return oidctest.SignIDToken(p.key, "k", "ES256", text) }
	}
	reply(w, Claims{"token_type": "Bearer", "access_token": bearer(asked.subject), "id_token": sign(string(text))})
}

func bearer(subject string) string {
	return "of-" + base64.RawURLEncoding.EncodeToString([]byte(subject))
}

func parseBearer(r *http.Request) (subject string, ok bool) {
	var text string
	if _, err := fmt.Sscanf(r.Header.Get("Authorization"), "Bearer of-%s", &text); err != nil {
		return "", false
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	return string(plain), err == nil
}

func coordinates(key *ecdsa.PrivateKey) (x, y string) {
	point, err := key.PublicKey.Bytes() // 4 | x | y
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(point[1:33]), base64.RawURLEncoding.EncodeToString(point[33:])
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
