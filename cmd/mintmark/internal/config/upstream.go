package config

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Upstream describes the OpenID Connect provider that users sign in with, if there is
// one. It must be the same on every node: a sign-in may begin on one node and end on
// another.
type Upstream struct {
	Issuer     string // issuer identifier of the provider; "": none
	Name       string // name on the sign-in page; default: the issuer's host
	ClientID   string
	SecretFile string   // "": MINTMARK_UPSTREAM_CLIENT_SECRET, or a client without a secret
	Scopes     []string // scopes in addition to openid; default: profile and email

	AdminClaim  string // a user with AdminValue in this claim is an administrator
	AdminValue  string
	AdminEmails []string // a user with one of these addresses, verified by the provider, is one too
}

const (
	KeyUpstreamIssuer     = "upstream-issuer"
	KeyUpstreamName       = "upstream-name"
	KeyUpstreamClientID   = "upstream-client-id"
	KeyUpstreamSecretFile = "upstream-client-secret-file"
	KeyUpstreamScope      = "upstream-scope"
	KeyUpstreamAdminClaim = "upstream-admin-claim"
	KeyUpstreamAdminValue = "upstream-admin-value"
	KeyUpstreamAdminEmail = "upstream-admin-email"
	KeyPasswordSignIn     = "password-sign-in"
)

// signInSettings returns the settings of signing in.
func (o *Options) signInSettings() []Setting {
	u := &o.Upstream
	return []Setting{
		{KeyUpstreamIssuer, &u.Issuer, "`URL` of an OpenID Connect provider for signing in (default: none)"},
		{KeyUpstreamName, &u.Name, "`NAME` of the provider on the sign-in page (default: its host)"},
		{KeyUpstreamClientID, &u.ClientID, "`ID` of this service at the provider"},
		{KeyUpstreamSecretFile, &u.SecretFile, "`FILE` with the client secret at the provider (default: " + EnvUpstreamSecret + " in the environment)"},
		{KeyUpstreamScope, &u.Scopes, "`SCOPE` to request in addition to openid (repeatable; default: profile and email)"},
		{KeyUpstreamAdminClaim, &u.AdminClaim, "`CLAIM` that identifies administrators"},
		{KeyUpstreamAdminValue, &u.AdminValue, "`VALUE` of an administrator's claim, or in its list"},
		{KeyUpstreamAdminEmail, &u.AdminEmails, "`ADDRESS` of an administrator, verified by the provider (repeatable)"},
		{KeyPasswordSignIn, &o.PasswordSignIn, "whether users may sign in by a password of this service; false requires --upstream-issuer"},
	}
}

// checkSignIn refuses an incomplete provider, and settings with which no user could
// sign in.
func (o *Options) checkSignIn(from Sources) error {
	u := &o.Upstream
	if u.Issuer == "" {
		for _, s := range o.signInSettings() {
			if isSet(s.Value) {
				return SettingError(s.Key, from, "expected upstream-issuer as well, whose setting this is")
			}
		}
		if !o.PasswordSignIn {
			return SettingError(KeyPasswordSignIn, from, "expected true, because there is no upstream-issuer to sign in with instead")
		}
		return nil
	}
	var errs []error
	expect := func(key string, holds bool, expected string) {
		if !holds {
			errs = append(errs, SettingError(key, from, "expected "+expected))
		}
	}
	expect(KeyUpstreamIssuer, isIssuer(u.Issuer), "https://host, perhaps with a path; http is for this machine only")
	expect(KeyUpstreamName, readable(u.Name, 60), "a short printable name")
	expect(KeyUpstreamClientID, u.ClientID != "" && readable(u.ClientID, 1024), "the id that the provider gave to this service, since upstream-issuer is given")
	expect(KeyUpstreamScope, !slices.ContainsFunc(u.Scopes, func(s string) bool { return !scopeToken.MatchString(s) }), "scopes, each by itself")
	expect(KeyUpstreamAdminClaim, (u.AdminClaim == "") == (u.AdminValue == ""), KeyUpstreamAdminClaim+" and "+KeyUpstreamAdminValue+" together")
	expect(KeyUpstreamAdminEmail, !slices.ContainsFunc(u.AdminEmails, func(a string) bool {
		name, host, at := strings.Cut(a, "@")
		return !at || name == "" || host == "" || strings.ContainsFunc(a, unicode.IsSpace)
	}), "e-mail addresses")
	return errors.Join(errs...)
}

// isSet reports whether a text or list is set.
func isSet(value any) bool {
	switch v := value.(type) {
	case *string:
		return *v != ""
	case *[]string:
		return len(*v) > 0
	}
	return false
}

// scopeToken is that of RFC 6749 §3.3.
var scopeToken = regexp.MustCompile(`^[\x21\x23-\x5b\x5d-\x7e]+$`)

// isIssuer reports whether a text is an issuer identifier as in OpenID Connect
// Discovery §2. http is accepted for this machine only, because what is sent by http
// can be read and changed on its way.
func isIssuer(text string) bool {
	u, err := url.Parse(text)
	if err != nil || !isHost(u.Hostname()) || u.User != nil || strings.ContainsAny(text, "?#") || strings.HasSuffix(u.Host, ":") {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && local
}

func readable(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && !strings.ContainsFunc(text, unicode.IsControl)
}
