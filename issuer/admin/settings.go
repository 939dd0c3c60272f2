package admin

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A SettingsQuery requests all settings.
type SettingsQuery struct{}

// A SettingsChange sets some settings, all or none of them.
type SettingsChange struct {
	Set map[string]string `json:"set"`
	// Seen has values that the operator saw. The change is refused if one of them is
	// another now, unless it is the one to be set.
	Seen map[string]string `json:"seen,omitempty"`
}

// Settings are the settings of the cluster, which apply to every node.
type Settings struct {
	Settings []Setting `json:"settings"`
}

// A Setting is one of the settings.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Fixed bool   `json:"fixed,omitempty"` // can't be changed any more
	About string `json:"about"`
}

// off is the text of a RotateEvery that disables scheduled rotation, and of AgentsOff.
const off = "off"

// settings has all settings in the order of display.
var settings = []struct {
	key, about string
	text       func(*ledger.Settings) *string // exactly one of text, flag and duration is set
	empty      string                         // stands for the text ""
	flag       func(*ledger.Settings) *bool
	duration   func(*ledger.Settings) *time.Duration
	fixed      bool
}{
	{key: "base_url", about: "address of the API, and the issuer", fixed: true, text: func(s *ledger.Settings) *string { return &s.BaseURL }},
	{key: "app_url", about: "address of the pages", fixed: true, text: func(s *ledger.Settings) *string { return &s.AppURL }},
	{key: "plain_http", about: "whether http addresses outside the loopback were accepted", fixed: true, flag: func(s *ledger.Settings) *bool { return &s.PlainHTTP }},
	{key: "audience", about: "audience of access tokens that name no resource server", fixed: true, text: func(s *ledger.Settings) *string { return &s.Audience }},
	{key: "algorithm", about: "of signing keys made from now on: ES256, EdDSA or RS256", text: func(s *ledger.Settings) *string { return &s.Algorithm }},
	{key: "code_lifetime", about: "of authorization codes", duration: func(s *ledger.Settings) *time.Duration { return &s.CodeLifetime }},
	{key: "refresh_idle", about: "of refresh tokens that nobody uses", duration: func(s *ledger.Settings) *time.Duration { return &s.RefreshIdle }},
	{key: "grant_absolute", about: "of grants, from the user's Allow", duration: func(s *ledger.Settings) *time.Duration { return &s.GrantAbsolute }},
	{key: "retry_window", about: "in which a lost response may be asked for again, confidential clients", duration: func(s *ledger.Settings) *time.Duration { return &s.RetryWindow }},
	{key: "retry_window_public", about: "the same for public clients", duration: func(s *ledger.Settings) *time.Duration { return &s.RetryWindowPublic }},
	{key: "session_idle", about: "of sessions that nobody uses", duration: func(s *ledger.Settings) *time.Duration { return &s.SessionIdle }},
	{key: "session_absolute", about: "of sessions, from the sign-in", duration: func(s *ledger.Settings) *time.Duration { return &s.SessionAbsolute }},
	{key: "jwks_max_age", about: "for which verifiers may keep the key set", duration: func(s *ledger.Settings) *time.Duration { return &s.JWKSMaxAge }},
	{key: "agents", about: "whose clients with a metadata document are accepted: off, listed or reviewed", empty: off, text: func(s *ledger.Settings) *string { return (*string)(&s.Agents) }},
	{key: "rotate_every", about: "age at which keys are replaced, or off", duration: func(s *ledger.Settings) *time.Duration { return &s.RotateEvery }},
}

func (c *call) showSettings(ctx context.Context, _ SettingsQuery) (Settings, error) {
	v, err := c.view(ctx)
	if err != nil {
		return Settings{}, err
	}
	return shownSettings(v.Settings()), nil
}

// DefaultSettings returns the settings of a new cluster, as ShowSettings shows them.
func DefaultSettings() Settings {
	s := ledger.DefaultSettings()
	return shownSettings(&s)
}

func shownSettings(s *ledger.Settings) Settings {
	row := *s
	row.RotateEvery, _ = row.Rotation()
	var all Settings
	for _, k := range settings {
		shown := Setting{Key: k.key, About: k.about, Fixed: k.fixed}
		switch {
		case k.text != nil:
			shown.Value = cmp.Or(*k.text(&row), k.empty)
		case k.flag != nil:
			shown.Value = strconv.FormatBool(*k.flag(&row))
		case k.key == "rotate_every" && s.RotateEvery == ledger.RotateNever:
			shown.Value = off
		default:
			shown.Value = FormatDuration(*k.duration(&row))
		}
		all.Settings = append(all.Settings, shown)
	}
	return all
}

// setTries bounds the attempts if the settings change between reading and replacing them.
const setTries = 5

// setSettings changes the named settings. The others stay unchanged even if another
// operator changes them concurrently.
func (c *call) setSettings(ctx context.Context, q SettingsChange) (Settings, error) {
	for try := 1; ; try++ {
		v, err := c.fresh(ctx)
		if err != nil {
			return Settings{}, err
		}
		next := *v.Settings()
		if err := checkSeen(&next, q); err != nil {
			return Settings{}, err
		}
		for _, key := range slices.Sorted(maps.Keys(q.Set)) {
			if note := SetSetting(&next, key, q.Set[key]); note != "" {
				return Settings{}, badField("settings", key, note)
			}
		}
		_, err = c.propose(ctx, "settings", &ledger.Configure{Actor: c.actor, Settings: next, ExpectedLast: next.Last})
		var p *Problem
		switch {
		case err == nil:
			return shownSettings(&next), nil
		case errors.As(err, &p) && p.Cause == ledger.Conflict && try < setTries:
		default:
			return Settings{}, err
		}
	}
}

// checkSeen returns a refusal if a setting is no longer what the operator saw.
func checkSeen(s *ledger.Settings, q SettingsChange) error {
	for _, now := range shownSettings(s).Settings {
		if seen, ok := q.Seen[now.Key]; ok && seen != now.Value && q.Set[now.Key] != now.Value {
			p := refusal("settings", &ledger.Refusal{Cause: ledger.Conflict})
			p.Note = now.Key + " is " + now.Value
			return p
		}
	}
	return nil
}

// CanonicalSetting returns the value of a setting as ShowSettings shows it, or what is
// wrong with it.
func CanonicalSetting(key, value string) (canonical, note string) {
	s := ledger.DefaultSettings()
	if note := SetSetting(&s, key, value); note != "" {
		return "", note
	}
	for _, shown := range shownSettings(&s).Settings {
		if shown.Key == key {
			canonical = shown.Value
		}
	}
	return canonical, ""
}

// SettingsOf returns the settings of a cluster that ShowSettings showed.
func SettingsOf(shown []Setting) ledger.Settings {
	s := ledger.DefaultSettings()
	for _, one := range shown {
		for _, k := range settings {
			switch {
			case k.key != one.Key:
			case k.flag != nil:
				*k.flag(&s) = one.Value == strconv.FormatBool(true)
			case k.text != nil && k.fixed:
				*k.text(&s) = one.Value
			default:
				_ = SetSetting(&s, one.Key, one.Value) // as it was shown
			}
		}
	}
	return s
}

// SetSetting sets one setting, and returns what is wrong with the value, or "". The ledger
// checks bounds.
func SetSetting(s *ledger.Settings, key, value string) (note string) {
	for _, k := range settings {
		switch {
		case k.key != key:
			continue
		case k.fixed:
			return "was chosen when the cluster was made, for good"
		case k.text != nil:
			if value == k.empty {
				value = ""
			}
			*k.text(s) = value
			return ""
		case key == "rotate_every" && value == off:
			s.RotateEvery = ledger.RotateNever
			return ""
		}
		d, err := ParseDuration(value)
		if err != nil {
			return "must be a duration such as 60s, 12h or 90d"
		}
		if key == "rotate_every" && d == 0 {
			return "must be a duration such as 90d, or off"
		}
		*k.duration(s) = d
		return ""
	}
	return "is not a setting"
}
