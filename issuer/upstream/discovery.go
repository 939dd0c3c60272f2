package upstream

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// discover reads the provider's metadata (OpenID Connect Discovery 1.0 §4).
func (p *Provider) discover(ctx context.Context) (*metadata, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), waitAnswer)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, p.config.Issuer)
	if err != nil {
		return nil, truncateError("read metadata", err)
	}
	var said struct {
		Authorization string   `json:"authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		UserInfo      string   `json:"userinfo_endpoint"`
		JWKS          string   `json:"jwks_uri"`
		Methods       []string `json:"token_endpoint_auth_methods_supported"`
		SaysIss       bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := provider.Claims(&said); err != nil {
		return nil, truncateError("read metadata", err)
	}
	for name, address := range map[string]string{
		"authorization_endpoint": said.Authorization, "token_endpoint": said.Token, "jwks_uri": said.JWKS, "userinfo_endpoint": said.UserInfo,
	} {
		if !p.isSecure(address) && !(name == "userinfo_endpoint" && address == "") {
			return nil, fmt.Errorf("provider metadata: %s is missing or not https", name)
		}
	}
	return &metadata{
		provider: provider, sendsIss: said.SaysIss,
		verifier: provider.Verifier(&oidc.Config{ClientID: p.config.ClientID, Now: p.config.Now}),
		oauth: oauth2.Config{
			ClientID: p.config.ClientID, RedirectURL: p.config.RedirectURI,
			Endpoint: oauth2.Endpoint{AuthURL: said.Authorization, TokenURL: said.Token, AuthStyle: p.style(said.Methods)},
			Scopes:   slices.Compact(append([]string{oidc.ScopeOpenID}, p.config.Scopes...)),
		},
	}, nil
}

// style returns how the client authenticates. It is not found by trial, as the library
// would do, since a code that was sent once may be spent. The default is HTTP Basic
// (OpenID Connect Discovery §3).
func (p *Provider) style(methods []string) oauth2.AuthStyle {
	basic := len(methods) == 0 || slices.Contains(methods, "client_secret_basic")
	if p.config.ClientSecret == "" || !basic {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// isSecure reports whether secrets may be sent to an address: by https, or on the loopback
// if the issuer is there too.
func (p *Provider) isSecure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && local && strings.HasPrefix(p.config.Issuer, "http://")
}
