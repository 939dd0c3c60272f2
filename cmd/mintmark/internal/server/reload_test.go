package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
)

// TestReloadOfTheLogLevel: the level changes without a restart, in both directions.
func TestReloadOfTheLogLevel(t *testing.T) {
	o := config.Default()
	var text bytes.Buffer
	log := o.Logger(&text)
	c, err := FromOptions(&o, "v1", log)
	require.NoError(t, err)
	file := o
	r := reloader{current: o, load: func() (config.Options, config.Sources, error) { return file, nil, nil }, config: &c}
	for i, verbose := range []bool{false, true, false} {
		file.LogLevel = map[bool]string{false: "info", true: "debug"}[verbose]
		file.AccessLog = verbose
		r.reload()
		marker := fmt.Sprint("look ", i)
		log.Debug(marker)
		require.Equal(t, verbose, strings.Contains(text.String(), marker))
		require.Equal(t, verbose, c.AccessLog.Load())
	}
}

// TestHangupReadsTheClientSecret: SIGHUP reloads the client secret for the provider. If
// the file can't be read, the known secret stays.
func TestHangupReadsTheClientSecret(t *testing.T) {
	p := upstreamtest.New(t, time.Now)
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("of last year"), 0o600))
	o := config.Default()
	o.Upstream.Issuer, o.Upstream.ClientID, o.Upstream.SecretFile = p.URL, upstreamtest.ClientID, file
	var text bytes.Buffer
	log := o.Logger(&text)
	c, err := FromOptions(&o, "v1", log)
	require.NoError(t, err)
	c.Upstream.RedirectURI, c.Upstream.Log = "https://app.example.com/auth/upstream/callback", slog.New(slog.DiscardHandler)
	provider := upstream.New(*c.Upstream)
	s := &Server{}
	s.provider.Store(provider)
	s.upstreamTasks.Go(func() { provider.Run(t.Context()) })
	t.Cleanup(s.upstreamTasks.Wait)
	r := reloader{current: o, load: func() (config.Options, config.Sources, error) { return o, nil, nil }, config: &c}
	r.server.Store(s)

	signIn := func() error {
		proofs := upstream.AuthRequest{State: strings.Repeat("s", 43), Nonce: strings.Repeat("n", 43), Verifier: strings.Repeat("v", 43)}
		var location string
		require.Eventually(t, func() bool {
			location, err = provider.Begin(proofs, false)
			return err == nil
		}, 20*time.Second, 10*time.Millisecond)
		back := p.SignIn(location, "1")
		_, err := provider.Finish(t.Context(), upstream.Answer{Code: back.Get("code"), Issuer: back.Get("iss")}, proofs)
		return err
	}
	require.ErrorContains(t, signIn(), "invalid_client")
	require.NoError(t, os.WriteFile(file, []byte(upstreamtest.ClientSecret), 0o600))
	r.reload()
	require.NoError(t, signIn())
	require.NoError(t, os.Chmod(file, 0o644))
	r.reload()
	require.NoError(t, signIn())
	require.Contains(t, text.String(), "client secret at the provider not reloaded")
	require.NotContains(t, text.String(), upstreamtest.ClientSecret)
}
