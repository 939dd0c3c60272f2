package ledger

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// A SettingField is one of the settings that operators see.
type SettingField struct {
	Key      string
	Fixed    bool                           // can't be changed after the first Configure
	Text     func(*Settings) *string        // exactly one of Text, Flag and Duration is set
	Empty    string                         // stands for the text ""
	Flag     func(*Settings) *bool          //
	Duration func(*Settings) *time.Duration //
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
	{Key: "base_url", Fixed: true, Text: func(s *Settings) *string { return &s.BaseURL }},
	{Key: "app_url", Fixed: true, Text: func(s *Settings) *string { return &s.AppURL }},
	{Key: "plain_http", Fixed: true, Flag: func(s *Settings) *bool { return &s.PlainHTTP }},
	{Key: "audience", Fixed: true, Text: func(s *Settings) *string { return &s.Audience }},
	{Key: "algorithm", Text: func(s *Settings) *string { return &s.Algorithm }},
	{Key: "code_lifetime", Duration: func(s *Settings) *time.Duration { return &s.CodeLifetime }},
	{Key: "refresh_idle", Duration: func(s *Settings) *time.Duration { return &s.RefreshIdle }},
	{Key: "grant_absolute", Duration: func(s *Settings) *time.Duration { return &s.GrantAbsolute }},
	{Key: "retry_window", Duration: func(s *Settings) *time.Duration { return &s.RetryWindow }},
	{Key: "retry_window_public", Duration: func(s *Settings) *time.Duration { return &s.RetryWindowPublic }},
	{Key: "session_idle", Duration: func(s *Settings) *time.Duration { return &s.SessionIdle }},
	{Key: "session_absolute", Duration: func(s *Settings) *time.Duration { return &s.SessionAbsolute }},
	{Key: "jwks_max_age", Duration: func(s *Settings) *time.Duration { return &s.JWKSMaxAge }},
	{Key: "agents", Empty: SettingOff, Text: func(s *Settings) *string { return (*string)(&s.Agents) }},
	{Key: "service_name", Empty: DefaultServiceName, Text: func(s *Settings) *string { return &s.Brand.Name }},
	{Key: "accent", Empty: settingDefault, Text: func(s *Settings) *string { return &s.Brand.Accent }},
	{Key: "privacy_url", Empty: settingNone, Text: func(s *Settings) *string { return &s.Brand.PrivacyURL }},
	{Key: "terms_url", Empty: settingNone, Text: func(s *Settings) *string { return &s.Brand.TermsURL }},
	{Key: "help_url", Empty: settingNone, Text: func(s *Settings) *string { return &s.Brand.HelpURL }},
	{Key: "forgot_password", Empty: settingNone, Text: func(s *Settings) *string { return &s.Brand.Forgot }},
	{Key: "forgot_password_url", Empty: settingNone, Text: func(s *Settings) *string { return &s.Brand.ForgotURL }},
	{Key: rotateEveryKey, Duration: func(s *Settings) *time.Duration { return &s.RotateEvery }},
}

// Shown returns the value of the setting for display.
func (f *SettingField) Shown(s *Settings) string {
	switch {
	case f.Text != nil:
		return cmp.Or(*f.Text(s), f.Empty)
	case f.Flag != nil:
		return strconv.FormatBool(*f.Flag(s))
	case f.Key == rotateEveryKey:
		every, scheduled := s.Rotation()
		if !scheduled {
			return SettingOff
		}
		return FormatDuration(every)
	}
	return FormatDuration(*f.Duration(s))
}

// settingDifferences returns the detail of the event of a change of settings: the keys that
// changed, with their values. No setting is a secret.
func settingDifferences(old, next *Settings) string {
	var all differences
	for i := range SettingFields {
		f := &SettingFields[i]
		all.text(f.Key, f.Shown(old), f.Shown(next))
	}
	all.text("logo", old.Brand.logoText(), next.Brand.logoText())
	return clipDetail(strings.Join(all, "; "))
}

// FormatDuration formats a duration with days of 24 hours and without units that are zero:
// 30d, 1d12h, 1m30s.
func FormatDuration(d time.Duration) string {
	days := d / (24 * time.Hour)
	if days < 1 {
		return trimZeros(d)
	}
	text := strconv.FormatInt(int64(days), 10) + "d"
	if rest := d % (24 * time.Hour); rest > 0 {
		text += trimZeros(rest)
	}
	return text
}

func trimZeros(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
