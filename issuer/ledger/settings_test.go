package ledger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func validSettings() ledger.Settings {
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	return s
}

// TestSettingBounds verifies that the least and the greatest value of each duration are
// valid, and that those beyond them are refused.
func TestSettingBounds(t *testing.T) {
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		field       func(*ledger.Settings) *time.Duration
		least, most time.Duration
		also        []time.Duration // other valid values
	}{
		"code_lifetime":       {func(s *ledger.Settings) *time.Duration { return &s.CodeLifetime }, time.Second, 10 * time.Minute, nil},
		"refresh_idle":        {func(s *ledger.Settings) *time.Duration { return &s.RefreshIdle }, time.Second, 3650 * day, nil},
		"grant_absolute":      {func(s *ledger.Settings) *time.Duration { return &s.GrantAbsolute }, time.Second, 3650 * day, nil},
		"retry_window":        {func(s *ledger.Settings) *time.Duration { return &s.RetryWindow }, 0, 10 * time.Minute, nil},
		"retry_window_public": {func(s *ledger.Settings) *time.Duration { return &s.RetryWindowPublic }, 0, 10 * time.Minute, nil},
		"session_idle":        {func(s *ledger.Settings) *time.Duration { return &s.SessionIdle }, time.Minute, 365 * day, nil},
		"session_absolute":    {func(s *ledger.Settings) *time.Duration { return &s.SessionAbsolute }, time.Minute, 365 * day, nil},
		"jwks_max_age":        {func(s *ledger.Settings) *time.Duration { return &s.JWKSMaxAge }, time.Second, day, nil},
		"rotate_every":        {func(s *ledger.Settings) *time.Duration { return &s.RotateEvery }, day, 3650 * day, []time.Duration{0, ledger.RotateNever}},
	} {
		check := func(d time.Duration) string {
			s := validSettings()
			*test.field(&s) = d
			if s.RotateEvery == day {
				s.GrantAbsolute = 50 * day // see TestRotationsOfAGrant
			}
			field, note := s.Check()
			assert.Equal(t, field == "", note == "")
			return field
		}
		for _, valid := range append(test.also, test.least, test.most) {
			assert.Empty(t, check(valid), "%s %s", name, valid)
		}
		for _, invalid := range []time.Duration{test.least - 2, test.most + 1} { // RotateNever is -1
			assert.Equal(t, name, check(invalid), "%s %s", name, invalid)
		}
	}
}

// TestRotationsOfAGrant verifies that not too many credential keys are retired within the
// lifetime of a grant.
func TestRotationsOfAGrant(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		every, absolute time.Duration
		note            string
	}{
		{day, 60 * day, ""},
		{day, 61 * day, "must be at least 1/60 of grant_absolute (61d)"},
		{day, 365 * day, "must be at least 1/60 of grant_absolute (365d)"},
		{day, time.Second, ""},
		{7 * day, 365 * day, ""},
		{60 * day, 3650 * day, "must be at least 1/60 of grant_absolute (3650d)"},
		{0, 3650 * day, ""}, // the default
		{3650 * day, 3650 * day, ""},
		{ledger.RotateNever, 3650 * day, ""},
	} {
		s := validSettings()
		s.RotateEvery, s.GrantAbsolute = test.every, test.absolute
		field, note := s.Check()
		assert.Equal(t, test.note, note, "%s %s", test.every, test.absolute)
		assert.Equal(t, note == "", field == "")
	}
}

// TestSettingTexts verifies the settings that are texts.
func TestSettingTexts(t *testing.T) {
	for name, test := range map[string]struct {
		field          func(*ledger.Settings) *string
		valid, invalid string // separated by spaces
	}{
		"base_url": {
			func(s *ledger.Settings) *string { return &s.BaseURL }, "https://a http://localhost https://a.example:8443",
			"- a.example ftp://a.example https:// http:// https://a/ https://a?b https://a#b https://a@b https://a;b",
		},
		"app_url":   {func(s *ledger.Settings) *string { return &s.AppURL }, "https://a http://127.0.0.1:80", "- a.example https:// https://a/b"},
		"audience":  {func(s *ledger.Settings) *string { return &s.Audience }, "a", "-"},
		"algorithm": {func(s *ledger.Settings) *string { return &s.Algorithm }, "ES256 EdDSA RS256", "- none HS256 es256"},
	} {
		check := func(text string) string {
			s := validSettings()
			*test.field(&s) = strings.TrimPrefix(text, "-")
			field, _ := s.Check()
			return field
		}
		for _, valid := range strings.Fields(test.valid) {
			assert.Empty(t, check(valid), "%s %s", name, valid)
		}
		for _, invalid := range strings.Fields(test.invalid) {
			assert.Equal(t, name, check(invalid), "%s %s", name, invalid)
		}
	}
}

// TestConfigure verifies which Configure changes the settings.
func TestConfigure(t *testing.T) {
	w := newEnv(t)
	lasting := func(lifetime time.Duration) ledger.Settings {
		s := *w.view().Settings()
		s.CodeLifetime = lifetime
		return s
	}
	configure := func(c *ledger.Configure, name string) (*ledger.Refusal, bool) {
		o, changed := w.do(c, name, false)
		return o.Refusal, changed
	}
	first := *w.view().Settings()

	bad := lasting(0)
	refused, changed := configure(&ledger.Configure{Settings: bad}, "")
	require.Equal(t, "code_lifetime", refused.Field)
	require.False(t, changed)

	refused, changed = configure(&ledger.Configure{Settings: lasting(time.Minute), First: true}, "")
	require.Nil(t, refused)
	require.False(t, changed, "there were settings")

	refused, changed = configure(&ledger.Configure{Settings: lasting(first.CodeLifetime)}, "")
	require.Nil(t, refused)
	require.False(t, changed, "the settings are the same")

	refused, changed = configure(&ledger.Configure{Settings: lasting(time.Minute)}, "minute")
	require.Nil(t, refused)
	require.True(t, changed)
	require.Equal(t, time.Minute, w.view().Settings().CodeLifetime)
	require.Equal(t, `code_lifetime: "5m" → "1m"`, w.view().LastEvent().Detail)

	refused, changed = configure(&ledger.Configure{Settings: lasting(2 * time.Minute)}, "minute")
	require.Nil(t, refused)
	require.False(t, changed, "the command was applied before")

	stale := &ledger.Configure{Settings: lasting(2 * time.Minute), ExpectedLast: first.Last}
	refused, changed = configure(stale, "")
	require.Equal(t, ledger.Conflict, refused.Cause)
	require.False(t, changed)

	stale.ExpectedLast = w.view().Settings().Last
	refused, changed = configure(stale, "")
	require.Nil(t, refused)
	require.True(t, changed)
}

// TestFirstSettings verifies that the first settings are stored, and that no cache has a key
// set from before.
func TestFirstSettings(t *testing.T) {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: ledger.Tables()})
	require.NoError(t, err)
	s := validSettings()
	s.JWKSMaxAge = time.Second
	d := (&ledger.Configure{Settings: s, First: true}).Decide(db.Txn(false), command.Meta{ID: command.ID{1}, Seq: 1, At: 1000})
	require.Len(t, d.Changes, 2)
	stored := d.Changes[0].Row.(*ledger.Settings)
	require.Equal(t, command.ID{1}, stored.Last)
	require.Equal(t, `base_url: "" → "https://api.example.com"; app_url: "" → "https://app.example.com"; audience: "" → "https://api.example.com"; jwks_max_age: "5m" → "1s"`,
		d.Changes[1].Row.(*ledger.Event).Detail)
	require.Zero(t, stored.CachedJWKSUntil)
}

// TestCachedJWKSUntil verifies that only a shorter max-age leaves caches behind, and that
// the first settings leave none.
func TestCachedJWKSUntil(t *testing.T) {
	w := newEnv(t)
	require.Zero(t, w.view().Settings().CachedJWKSUntil, "no key set was served before the first settings")
	promise := func(maxAge time.Duration) ledger.Time {
		s := *w.view().Settings()
		s.JWKSMaxAge = maxAge
		w.must(&ledger.Configure{Settings: s})
		return w.view().Settings().CachedJWKSUntil
	}
	require.Zero(t, promise(time.Hour))
	at := w.at()
	cached := promise(2 * time.Minute)
	require.InDelta(t, float64(at.Add(2*time.Hour)), float64(cached), 1000)
	require.Equal(t, cached, promise(time.Minute), "an earlier end is no end")
	require.Equal(t, cached, promise(3*time.Minute))
}

// TestFormatDuration verifies that no unit that is zero is shown, and no digit is lost.
func TestFormatDuration(t *testing.T) {
	for text, d := range map[string]time.Duration{
		"0s": 0, "10s": 10 * time.Second, "1m30s": 90 * time.Second, "10m": 10 * time.Minute, "1h": time.Hour, "1h10m": 70 * time.Minute,
		"10h": 10 * time.Hour, "30d": 720 * time.Hour, "1d12h": 36 * time.Hour, "1d10s": 24*time.Hour + 10*time.Second,
	} {
		require.Equal(t, text, ledger.FormatDuration(d))
	}
}

// TestHostsOfBadSettings verifies that settings which were not checked yet have no hosts.
func TestHostsOfBadSettings(t *testing.T) {
	require.Empty(t, (&ledger.Settings{BaseURL: "http://[", AppURL: ":"}).Hosts())
}

// TestPlainHTTP verifies that an address without TLS is valid only on the loopback, or if it
// was accepted.
func TestPlainHTTP(t *testing.T) {
	for origin, plain := range map[string]bool{
		"https://auth.example.com": false, "https://10.0.0.1:8443": false,
		"http://localhost": false, "http://localhost:8080": false, "http://app.localhost:1": false,
		"http://127.0.0.1": false, "http://127.8.8.8:8080": false, "http://[::1]": false, "http://[::1]:8080": false,
		"http://[::ffff:127.0.0.1]:80": false,

		"http://auth.example.com": true, "http://auth.example.com:8080": true, "http://10.0.0.1": true, "http://0.0.0.0:8080": true,
		"http://[::]:80": true, "http://[fd00::1]": true, "http://localhost.example.com": true, "http://notlocalhost": true,
		"http://127.0.0.1.example.com": true, "http://128.0.0.1": true,
	} {
		require.Equal(t, plain, ledger.PlainHTTP(origin), origin)
		for _, field := range []string{"base_url", "app_url"} {
			s := ledger.DefaultSettings()
			s.BaseURL, s.AppURL, s.Audience = "https://auth.example.com", "https://auth.example.com", "a"
			if field == "base_url" {
				s.BaseURL = origin
			} else {
				s.AppURL = origin
			}
			refused, _ := s.Check()
			if want := map[bool]string{true: field}[plain]; refused != want {
				t.Errorf("%s %s: refused is %q", field, origin, refused)
			}
			s.PlainHTTP = true
			refused, note := s.Check()
			require.Empty(t, refused, note)
		}
	}
}
