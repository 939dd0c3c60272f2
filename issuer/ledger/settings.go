package ledger

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Settings are the replicated settings, one row. Decisions depend on these and never on a
// node's flags.
type Settings struct {
	ID string `cbor:"1,keyasint"` // always SettingsID

	BaseURL   string `cbor:"2,keyasint"` // of the API; it is the issuer (RFC 8414 §2), so it has no path
	AppURL    string `cbor:"3,keyasint"` // of the web application
	Audience  string `cbor:"4,keyasint"` // of access tokens
	Algorithm string `cbor:"5,keyasint"` // of signing keys: ES256, EdDSA or RS256

	CodeLifetime      time.Duration `cbor:"6,keyasint"`  // at most 10 minutes
	RefreshIdle       time.Duration `cbor:"7,keyasint"`  // sliding
	GrantAbsolute     time.Duration `cbor:"8,keyasint"`  // from the Allow
	RetryWindow       time.Duration `cbor:"9,keyasint"`  // of confidential clients; 0 turns it off
	RetryWindowPublic time.Duration `cbor:"10,keyasint"` // of public clients
	SessionIdle       time.Duration `cbor:"11,keyasint"` // sliding
	SessionAbsolute   time.Duration `cbor:"12,keyasint"`
	JWKSMaxAge        time.Duration `cbor:"13,keyasint"`

	Last     command.ID `cbor:"14,keyasint"`
	Declared string     `cbor:"15,keyasint,omitempty"` // like Client.Declared

	RotateEvery time.Duration `cbor:"16,keyasint,omitempty"` // see Rotation; RotateNever disables it, 0 is the default

	// CachedJWKSUntil is the time until which verifiers may cache a JWKS that was served
	// with a greater JWKSMaxAge than the current one. The ledger sets it.
	CachedJWKSUntil Time `cbor:"17,keyasint,omitempty"`

	// PlainHTTP records that an operator accepted an issuer for which the function
	// PlainHTTP is true. Like the issuer it can't be changed later.
	PlainHTTP bool `cbor:"18,keyasint,omitempty"`

	Agents Agents `cbor:"19,keyasint,omitempty"`

	Brand Brand `cbor:"30,keyasint,omitzero"`
	// Draft is the brand that administrators preview, if HasDraft is set. Both are set by
	// SetBrand only, like Brand.Logo.
	Draft    Brand `cbor:"31,keyasint,omitzero"`
	HasDraft bool  `cbor:"32,keyasint,omitempty"`
}

// Lengths of settings, without leap seconds and leap years.
const (
	aDay  = 24 * time.Hour
	aYear = 365 * aDay
)

// SettingsID is the id of the only Settings row.
const SettingsID = "settings"

// DefaultSettings returns the settings of a new cluster, without addresses.
func DefaultSettings() Settings {
	return Settings{
		ID:                SettingsID,
		Algorithm:         "ES256",
		CodeLifetime:      5 * time.Minute,
		RefreshIdle:       30 * aDay,
		GrantAbsolute:     aYear,
		RetryWindow:       time.Minute,
		RetryWindowPublic: 30 * time.Second,
		SessionIdle:       12 * time.Hour,
		SessionAbsolute:   30 * aDay,
		JWKSMaxAge:        5 * time.Minute,
		RotateEvery:       rotateEvery,
	}
}

// A SettingField is one of the settings that operators see.
type SettingField struct {
	Key, About string                         // About is the description that operators read
	Fixed      bool                           // can't be changed after the first Configure
	Text       func(*Settings) *string        // exactly one of Text, Flag and Duration is set
	Empty      string                         // stands for the text ""
	Flag       func(*Settings) *bool          //
	Duration   func(*Settings) *time.Duration //

	Least, Most time.Duration // bounds of Duration
}

// Texts of settings without a value. SettingOff is that of a RotateEvery that disables scheduled
// rotation, and of AgentsOff.
const (
	SettingOff     = "off"
	settingNone    = "none"
	settingDefault = "default"
)

// rotateEveryKey is the key of Settings.RotateEvery.
const rotateEveryKey = "rotate_every"

// SettingFields has all settings in the order of display.
var SettingFields = []SettingField{
	{
		Key: "base_url", About: "address of the API, and the issuer",
		Fixed: true, Text: func(s *Settings) *string { return &s.BaseURL },
	},
	{
		Key: "app_url", About: "address of the pages",
		Fixed: true, Text: func(s *Settings) *string { return &s.AppURL },
	},
	{
		Key: "plain_http", About: "whether http addresses outside the loopback were accepted",
		Fixed: true, Flag: func(s *Settings) *bool { return &s.PlainHTTP },
	},
	{
		Key: "audience", About: "audience of access tokens that name no resource server",
		Fixed: true, Text: func(s *Settings) *string { return &s.Audience },
	},
	{
		Key: "algorithm", About: "of signing keys made from now on: ES256, EdDSA or RS256",
		Text: func(s *Settings) *string { return &s.Algorithm },
	},
	{
		Key: "code_lifetime", About: "of authorization codes",
		Least: time.Second, Most: 10 * time.Minute, Duration: func(s *Settings) *time.Duration { return &s.CodeLifetime },
	},
	{
		Key: "refresh_idle", About: "of refresh tokens that nobody uses",
		Least: time.Second, Most: 10 * aYear, Duration: func(s *Settings) *time.Duration { return &s.RefreshIdle },
	},
	{
		Key: "grant_absolute", About: "of grants, from the user's Allow",
		Least: time.Second, Most: 10 * aYear, Duration: func(s *Settings) *time.Duration { return &s.GrantAbsolute },
	},
	{
		Key: "retry_window", About: "in which a lost response may be asked for again, confidential clients",
		Least: 0, Most: 10 * time.Minute, Duration: func(s *Settings) *time.Duration { return &s.RetryWindow },
	},
	{
		Key: "retry_window_public", About: "the same for public clients",
		Least: 0, Most: 10 * time.Minute, Duration: func(s *Settings) *time.Duration { return &s.RetryWindowPublic },
	},
	{
		Key: "session_idle", About: "of sessions that nobody uses",
		Least: time.Minute, Most: aYear, Duration: func(s *Settings) *time.Duration { return &s.SessionIdle },
	},
	{
		Key: "session_absolute", About: "of sessions, from the sign-in",
		Least: time.Minute, Most: aYear, Duration: func(s *Settings) *time.Duration { return &s.SessionAbsolute },
	},
	{
		Key: "jwks_max_age", About: "for which verifiers may keep the key set",
		Least: time.Second, Most: aDay, Duration: func(s *Settings) *time.Duration { return &s.JWKSMaxAge },
	},
	{
		Key: "agents", About: "whose clients with a metadata document are accepted: off, listed or reviewed",
		Empty: SettingOff, Text: func(s *Settings) *string { return (*string)(&s.Agents) },
	},
	{
		Key: "service_name", About: "name of this service for people",
		Empty: DefaultServiceName, Text: func(s *Settings) *string { return &s.Brand.Name },
	},
	{
		Key: "accent", About: "color of buttons and links, such as #0b6b50; its contrast to white is at least 4.5:1",
		Empty: settingDefault, Text: func(s *Settings) *string { return &s.Brand.Accent },
	},
	{
		Key: "privacy_url", About: "address of the service's privacy policy",
		Empty: settingNone, Text: func(s *Settings) *string { return &s.Brand.PrivacyURL },
	},
	{
		Key: "terms_url", About: "address of its terms",
		Empty: settingNone, Text: func(s *Settings) *string { return &s.Brand.TermsURL },
	},
	{
		Key: "help_url", About: "address of its help",
		Empty: settingNone, Text: func(s *Settings) *string { return &s.Brand.HelpURL },
	},
	{
		Key: "forgot_password", About: "what people read who forgot their passwords",
		Empty: settingNone, Text: func(s *Settings) *string { return &s.Brand.Forgot },
	},
	{
		Key: "forgot_password_url", About: "where they go",
		Empty: settingNone, Text: func(s *Settings) *string { return &s.Brand.ForgotURL },
	},
	{
		Key: rotateEveryKey, About: fmt.Sprintf("age at which keys are replaced, at least 1/%d of grant_absolute, or off", maxRotations),
		Least: aDay, Most: 10 * aYear, Duration: func(s *Settings) *time.Duration { return &s.RotateEvery },
	},
}

// Check returns the first setting that is invalid, and why; "" if there is none.
func (s *Settings) Check() (field, note string) {
	switch {
	case !origin(s.BaseURL):
		return "base_url", "must be an http or https address without a path"
	case !origin(s.AppURL):
		return "app_url", "must be an http or https address without a path"
	case PlainHTTP(s.BaseURL) && !s.PlainHTTP:
		return "base_url", needsHTTPS
	case PlainHTTP(s.AppURL) && !s.PlainHTTP:
		return "app_url", needsHTTPS
	case s.Audience == "":
		return "audience", "is empty"
	case s.Algorithm != "ES256" && s.Algorithm != "EdDSA" && s.Algorithm != "RS256":
		return "algorithm", "must be ES256, EdDSA or RS256"
	case s.Agents != AgentsOff && s.Agents != AgentsListed && s.Agents != AgentsReviewed:
		return "agents", "must be off, listed or reviewed"
	}
	for i := range SettingFields {
		if f := &SettingFields[i]; f.Duration != nil {
			if note := f.checkDuration(*f.Duration(s)); note != "" {
				return f.Key, note
			}
		}
	}
	if every, ok := s.Rotation(); ok && every < s.GrantAbsolute/maxRotations {
		return rotateEveryKey, fmt.Sprintf("must be at least 1/%d of grant_absolute (%s)", maxRotations, FormatDuration(s.GrantAbsolute))
	}
	return s.Brand.Check()
}

func (f *SettingField) checkDuration(d time.Duration) (note string) {
	note = "must be from " + FormatDuration(f.Least) + " to " + FormatDuration(f.Most)
	if f.Key == rotateEveryKey {
		if d == 0 || d == RotateNever {
			return ""
		}
		note += ", or off"
	}
	if d < f.Least || d > f.Most {
		return note
	}
	return ""
}

// AcceptsAgents reports whether clients with metadata of their own may be used.
func (s *Settings) AcceptsAgents() bool { return s.Agents != AgentsOff }

// Hosts returns the hosts of this service, without ports.
func (s *Settings) Hosts() (hosts []string) {
	for _, address := range []string{s.BaseURL, s.AppURL} {
		if u, err := url.Parse(address); err == nil {
			hosts = append(hosts, strings.ToLower(u.Hostname()))
		}
	}
	return hosts
}

// origin reports whether s has the form scheme://host[:port].
func origin(s string) bool {
	host, ok := strings.CutPrefix(s, "https://")
	if !ok {
		host, ok = strings.CutPrefix(s, "http://")
	}
	return ok && host != "" && !strings.ContainsAny(host, "/?#@ \\\"'<>;,\t\r\n\x00")
}

const needsHTTPS = "must be an https address outside the loopback, unless plain http is accepted"

// PlainHTTP reports whether an origin is http on a host other than the loopback. Anybody on
// the network path could then read and change passwords, session cookies, codes and secrets
// (RFC 6749 §3.1, §3.2).
func PlainHTTP(origin string) bool {
	host, plain := strings.CutPrefix(origin, "http://")
	if !plain {
		return false
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761 §6.3
		return false
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err != nil || !ip.Unmap().IsLoopback()
}
