package main

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

// upstreamOptions are the OpenID Connect provider that people sign in with, if
// there is one. It is the same on every node: a sign-in that begins on one may
// end on another.
type upstreamOptions struct {
	Issuer     string // "": none
	Name       string // for people; default: the issuer's host
	ClientID   string
	SecretFile string   // "": MINTMARK_UPSTREAM_CLIENT_SECRET, or a client without a secret
	Scopes     []string // beside openid; default: profile and email

	AdminClaim  string // who has AdminValue in it is an administrator
	AdminValue  string
	AdminEmails []string // who has one of them, as the provider has verified, is too
}

const (
	keyUpstreamIssuer     = "upstream-issuer"
	keyUpstreamName       = "upstream-name"
	keyUpstreamClientID   = "upstream-client-id"
	keyUpstreamSecretFile = "upstream-client-secret-file"
	keyUpstreamScope      = "upstream-scope"
	keyUpstreamAdminClaim = "upstream-admin-claim"
	keyUpstreamAdminValue = "upstream-admin-value"
	keyUpstreamAdminEmail = "upstream-admin-email"
	keyPasswordSignIn     = "password-sign-in"
)

// signInSettings are those of signing in.
func (o *serveOptions) signInSettings() []configSetting {
	u := &o.Upstream
	return []configSetting{
		{keyUpstreamIssuer, &u.Issuer, "`URL` of an OpenID Connect provider that people sign in with (default: none)"},
		{keyUpstreamName, &u.Name, "`NAME` of the provider on the sign-in page (default: its host)"},
		{keyUpstreamClientID, &u.ClientID, "`ID` of this service at the provider"},
		{keyUpstreamSecretFile, &u.SecretFile, "`FILE` with the client secret at the provider (default: " + envUpstreamSecret + " in the environment)"},
		{keyUpstreamScope, &u.Scopes, "`SCOPE` that the provider is asked for beside openid (repeatable; default: profile and email)"},
		{keyUpstreamAdminClaim, &u.AdminClaim, "`CLAIM` by which the provider tells administrators"},
		{keyUpstreamAdminValue, &u.AdminValue, "`VALUE` that the claim of an administrator is, or has in its list"},
		{keyUpstreamAdminEmail, &u.AdminEmails, "`ADDRESS` whose owner, as the provider has verified, is an administrator (repeatable)"},
		{keyPasswordSignIn, &o.PasswordSignIn, "whether people may sign in by a password of this service; false needs --upstream-issuer"},
	}
}

// checkSignIn keeps a half of a provider from being taken for a whole one, and
// everybody from being locked out.
func (o *serveOptions) checkSignIn(from sources) error {
	u := &o.Upstream
	if u.Issuer == "" {
		for _, s := range o.signInSettings() {
			if isSet(s.value) {
				return settingError(s.key, from, "expected upstream-issuer as well, whose setting this is")
			}
		}
		if !o.PasswordSignIn {
			return settingError(keyPasswordSignIn, from, "expected true, because there is no upstream-issuer to sign in with instead")
		}
		return nil
	}
	var errs []error
	expect := func(key string, holds bool, expected string) {
		if !holds {
			errs = append(errs, settingError(key, from, "expected "+expected))
		}
	}
	expect(keyUpstreamIssuer, isIssuer(u.Issuer), "https://host, perhaps with a path; http is for this machine only")
	expect(keyUpstreamName, readable(u.Name, 60), "a short name that people can read")
	expect(keyUpstreamClientID, u.ClientID != "" && readable(u.ClientID, 1024), "the id that the provider gave to this service, since upstream-issuer is given")
	expect(keyUpstreamScope, !slices.ContainsFunc(u.Scopes, func(s string) bool { return !scopeToken.MatchString(s) }), "scopes, each by itself")
	expect(keyUpstreamAdminClaim, (u.AdminClaim == "") == (u.AdminValue == ""), keyUpstreamAdminClaim+" and "+keyUpstreamAdminValue+" together")
	expect(keyUpstreamAdminEmail, !slices.ContainsFunc(u.AdminEmails, func(a string) bool {
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

// isIssuer holds an issuer identifier to OpenID Connect Discovery §2. What is
// sent to http could be read and changed on its way, so that is for trying
// things on one machine.
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
