package admin_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func TestSettings(t *testing.T) {
	w := admintest.New(t)
	first := ledger.DefaultSettings()
	first.BaseURL, first.AppURL, first.Audience = "https://api.example", "https://app.example", "https://api.example"
	w.Do(&ledger.Configure{Settings: first})
	c, err := admin.NewCaller(w.Serve())
	require.NoError(t, err)
	defer c.Close()
	value := func(s admin.Settings, key string) string {
		for _, s := range s.Settings {
			if s.Key == key {
				return s.Value
			}
		}
		return "missing"
	}
	s, err := admin.ShowSettings.Call(t.Context(), c, admin.SettingsQuery{})
	require.NoError(t, err)
	require.Equal(t, "90d", value(s, "rotate_every"))
	require.Equal(t, "1m", value(s, "retry_window"))
	require.Len(t, s.Settings, len(ledger.SettingFields))
	for _, one := range s.Settings {
		require.NotEmpty(t, one.About, one.Key)
	}

	set := func(pairs ...string) (admin.Settings, error) {
		q := admin.SettingsChange{Set: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			q.Set[pairs[i]] = pairs[i+1]
		}
		return admin.SetSettings.Call(t.Context(), c, q)
	}
	s, err = set("rotate_every", "720h", "retry_window", "0s")
	require.NoError(t, err)
	require.Equal(t, "30d", value(s, "rotate_every"))
	require.Equal(t, "0s", value(s, "retry_window"))
	require.Equal(t, 720*time.Hour, w.View().Settings().RotateEvery)
	require.Equal(t, `retry_window: "1m" → "0s"; rotate_every: "90d" → "30d"`, w.View().LastEvent().Detail)
	for _, k := range ask(t, c, admin.ListKeys, admin.KeyFilter{}).Keys {
		require.Equal(t, k.Activated.Add(720*time.Hour), k.NextStep, "the time of its rotation")
	}
	s, err = set("rotate_every", "off", "algorithm", "EdDSA")
	require.NoError(t, err)
	require.Equal(t, "off", value(s, "rotate_every"))
	require.Equal(t, `algorithm: "ES256" → "EdDSA"; rotate_every: "30d" → "off"`, w.View().LastEvent().Detail)
	for _, k := range ask(t, c, admin.ListKeys, admin.KeyFilter{}).Keys {
		require.Zero(t, k.NextStep, "no rotation is scheduled")
	}
	require.Equal(t, ledger.RotateNever, w.View().Settings().RotateEvery)

	s, err = set("service_name", "Zeta", "accent", "#0b6b50", "help_url", "https://zeta.example/help")
	require.NoError(t, err)
	require.Equal(t, []string{"Zeta", "#0b6b50", "https://zeta.example/help", "none"},
		[]string{value(s, "service_name"), value(s, "accent"), value(s, "help_url"), value(s, "terms_url")})
	require.Equal(t, ledger.Brand{Name: "Zeta", Accent: "#0b6b50", HelpURL: "https://zeta.example/help"}, w.View().Settings().Brand)
	s, err = set("service_name", "Mintmark", "accent", "default", "help_url", "none")
	require.NoError(t, err)
	require.Equal(t, []string{"Mintmark", "default", "none"}, []string{value(s, "service_name"), value(s, "accent"), value(s, "help_url")})
	require.Equal(t, ledger.Brand{}, w.View().Settings().Brand)

	for name, test := range map[string]struct{ key, value, note string }{
		"too light":        {"accent", "#ffffff", "needs 4.5:1"},
		"no address":       {"privacy_url", "/privacy", "https"},
		"no such setting":  {"retry", "1s", "is not a setting"},
		"for good":         {"base_url", "https://elsewhere.example", "for good"},
		"no duration":      {"retry_window", "60", "duration"},
		"out of bounds":    {"code_lifetime", "700s", "from 1s to 10m"},
		"often":            {"rotate_every", "1h", "from 1d"},
		"often for grants": {"rotate_every", "1d", "must be at least 1/60 of grant_absolute (365d)"},
		"zero is not off":  {"rotate_every", "0s", "or off"},
		"algorithm":        {"algorithm", "none", "ES256"},
	} {
		t.Run(name, func(t *testing.T) {
			before := *w.View().Settings()
			_, err := set(test.key, test.value, "session_idle", "1h")
			require.ErrorContains(t, err, test.note)
			require.Equal(t, before, *w.View().Settings(), "a refused change was partly made")
		})
	}
}

// meanwhile is a ledger in which another operator changes a setting after each read.
type meanwhile struct {
	*admintest.Env
	do func()
}

func (m meanwhile) ViewFresh(ctx context.Context) (ledger.View, error) {
	v, err := m.Env.ViewFresh(ctx)
	m.do()
	return v, err
}

// TestSettingsOfTwoOperators verifies that concurrent changes don't undo each other.
func TestSettingsOfTwoOperators(t *testing.T) {
	w := admintest.New(t)
	first := ledger.DefaultSettings()
	first.BaseURL, first.AppURL, first.Audience = "https://api.example", "https://app.example", "https://api.example"
	w.Do(&ledger.Configure{Settings: first})
	times, most := 0, 1
	config := w.Config()
	config.Ledger = meanwhile{w, func() {
		if times++; times > most {
			return
		}
		other := *w.View().Settings()
		other.RetryWindow += time.Second
		w.Do(&ledger.Configure{Settings: other})
	}}
	dir, _ := admintest.Open(t, admin.NewHandler(config))
	c, err := admin.NewCaller(dir)
	require.NoError(t, err)
	defer c.Close()
	change := admin.SettingsChange{Set: map[string]string{"jwks_max_age": "60s"}}
	_, err = admin.SetSettings.Call(t.Context(), c, change)
	require.NoError(t, err)
	require.Equal(t, first.RetryWindow+time.Second, w.View().Settings().RetryWindow)
	require.Equal(t, time.Minute, w.View().Settings().JWKSMaxAge)

	times, most = 0, 1000
	change.Set["jwks_max_age"] = "90s"
	_, err = admin.SetSettings.Call(t.Context(), c, change)
	problem := new(admin.Problem)
	require.ErrorAs(t, err, &problem)
	require.Equal(t, ledger.Conflict, problem.Cause)
	require.Equal(t, time.Minute, w.View().Settings().JWKSMaxAge)
}
