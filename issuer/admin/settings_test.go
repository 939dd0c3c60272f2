package admin_test

import (
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
	require.Equal(t, "2160h0m0s", value(s, "rotate_every"))
	require.Equal(t, "1m0s", value(s, "retry_window"))

	set := func(pairs ...string) (admin.Settings, error) {
		q := admin.SettingsChange{Set: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			q.Set[pairs[i]] = pairs[i+1]
		}
		return admin.SetSettings.Call(t.Context(), c, q)
	}
	s, err = set("rotate_every", "720h", "retry_window", "0s")
	require.NoError(t, err)
	require.Equal(t, "720h0m0s", value(s, "rotate_every"))
	require.Equal(t, "0s", value(s, "retry_window"))
	require.Equal(t, 720*time.Hour, w.View().Settings().RotateEvery)
	s, err = set("rotate_every", "off", "algorithm", "EdDSA")
	require.NoError(t, err)
	require.Equal(t, "off", value(s, "rotate_every"))
	require.Equal(t, ledger.RotateNever, w.View().Settings().RotateEvery)

	for name, test := range map[string]struct{ key, value, note string }{
		"no such setting": {"retry", "1s", "is not a setting"},
		"for good":        {"base_url", "https://elsewhere.example", "for good"},
		"no duration":     {"retry_window", "60", "duration"},
		"out of bounds":   {"code_lifetime", "700s", "from 1s to 600s"},
		"often":           {"rotate_every", "1h", "from a day"},
		"zero is not off": {"rotate_every", "0s", "or off"},
		"algorithm":       {"algorithm", "none", "ES256"},
	} {
		t.Run(name, func(t *testing.T) {
			before := *w.View().Settings()
			_, err := set(test.key, test.value, "session_idle", "1h")
			require.ErrorContains(t, err, test.note)
			require.Equal(t, before, *w.View().Settings(), "all or none")
		})
	}
}
