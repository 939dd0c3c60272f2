package ledger

import (
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

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

// SettingsID is the id of the only Settings row.
const SettingsID = "settings"

// DefaultSettings returns the settings of a new cluster, without addresses.
func DefaultSettings() Settings {
	return Settings{
		ID:                SettingsID,
		Algorithm:         "ES256",
		CodeLifetime:      5 * time.Minute,
		RefreshIdle:       30 * 24 * time.Hour,
		GrantAbsolute:     365 * 24 * time.Hour,
		RetryWindow:       time.Minute,
		RetryWindowPublic: 30 * time.Second,
		SessionIdle:       12 * time.Hour,
		SessionAbsolute:   30 * 24 * time.Hour,
		JWKSMaxAge:        5 * time.Minute,
		RotateEvery:       rotateEvery,
	}
}

// Check returns the first setting that is invalid, and why; "" if there is none.
func (s *Settings) Check() (field, note string) {
	within := func(d, least, most time.Duration) bool { return d >= least && d <= most }
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
	case !within(s.CodeLifetime, time.Second, 10*time.Minute):
		return "code_lifetime", "must be from 1s to 600s"
	case !within(s.RefreshIdle, time.Second, 10*365*24*time.Hour):
		return "refresh_idle", "must be from 1s to ten years"
	case !within(s.GrantAbsolute, time.Second, 10*365*24*time.Hour):
		return "grant_absolute", "must be from 1s to ten years"
	case !within(s.RetryWindow, 0, 10*time.Minute):
		return "retry_window", "must be from 0s to 600s"
	case !within(s.RetryWindowPublic, 0, 10*time.Minute):
		return "retry_window_public", "must be from 0s to 600s"
	case !within(s.SessionIdle, time.Minute, 365*24*time.Hour):
		return "session_idle", "must be from 1m to a year"
	case !within(s.SessionAbsolute, time.Minute, 365*24*time.Hour):
		return "session_absolute", "must be from 1m to a year"
	case !within(s.JWKSMaxAge, time.Second, 24*time.Hour):
		return "jwks_max_age", "must be from 1s to a day"
	case s.RotateEvery != 0 && s.RotateEvery != RotateNever && !within(s.RotateEvery, 24*time.Hour, 10*365*24*time.Hour):
		return "rotate_every", "must be from a day to ten years, or off"
	case s.Agents != AgentsOff && s.Agents != AgentsListed && s.Agents != AgentsReviewed:
		return "agents", "must be off, listed or reviewed"
	}
	return s.Brand.Check()
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

// Configure replaces the settings. Only operators send it.
type Configure struct {
	Settings Settings `cbor:"1,keyasint"`
	// First changes nothing if there are settings: each node of a static bootstrap
	// proposes the settings that it was started with.
	First bool `cbor:"2,keyasint,omitempty"`
	// ExpectedLast is the Settings.Last that the sender has read. The command is refused
	// if the settings have changed since, so that concurrent changes don't undo each
	// other. Zero replaces any settings.
	ExpectedLast command.ID `cbor:"3,keyasint,omitzero"`
	Actor        Actor      `cbor:"4,keyasint,omitzero"` // an operator; zero is the local one
}

// Kind implements command.Command.
func (*Configure) Kind() command.Kind { return KindConfigure }

// Decide accepts settings that pass Check.
func (c *Configure) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyOperator(c.Actor.orOperator(), m)
	if cause != NoCause {
		return deny(cause)
	}
	s := c.Settings
	if field, note := s.Check(); field != "" {
		return badField(field, note)
	}
	s.ID = SettingsID
	old := *v.Settings()
	s.Last, s.CachedJWKSUntil = old.Last, old.CachedJWKSUntil
	s.Brand.Logo, s.Draft, s.HasDraft = old.Brand.Logo, old.Draft, old.HasDraft
	if (s == old || c.First || old.Last == m.ID) && old.Last != (command.ID{}) {
		return accept(Outcome{ID: s.ID})
	}
	if c.ExpectedLast != (command.ID{}) && c.ExpectedLast != old.Last {
		return deny(Conflict)
	}
	if s.JWKSMaxAge < old.JWKSMaxAge && old.Last != (command.ID{}) {
		s.CachedJWKSUntil = max(old.CachedJWKSUntil, stateTime(m).Add(2*old.JWKSMaxAge))
	}
	s.Last = m.ID
	return accept(Outcome{ID: s.ID}, put(TableSettings, &s),
		event(m, Event{Kind: EventConfigured, Actor: who.name(), Detail: settingDifferences(&old, &s)}))
}
