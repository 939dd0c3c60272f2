package admin

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

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
	var all Settings
	for _, f := range ledger.SettingFields {
		all.Settings = append(all.Settings, Setting{Key: f.Key, Value: f.Shown(s), About: f.About, Fixed: f.Fixed})
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
		for _, f := range ledger.SettingFields {
			switch {
			case f.Key != one.Key:
			case f.Flag != nil:
				*f.Flag(&s) = one.Value == strconv.FormatBool(true)
			case f.Text != nil && f.Fixed:
				*f.Text(&s) = one.Value
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
	for _, f := range ledger.SettingFields {
		switch {
		case f.Key != key:
			continue
		case f.Fixed:
			return "was chosen when the cluster was made, for good"
		case f.Text != nil:
			if value == f.Empty {
				value = ""
			}
			*f.Text(s) = value
			return ""
		case key == "rotate_every" && value == ledger.SettingOff:
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
		*f.Duration(s) = d
		return ""
	}
	return "is not a setting"
}
