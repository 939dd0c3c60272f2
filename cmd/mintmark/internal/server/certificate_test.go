package server

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCertificateWarnings: each warning is logged once. For a short-lived certificate the
// warnings are closer to its expiry.
func TestCertificateWarnings(t *testing.T) {
	const day = 24 * time.Hour
	begins := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for lifetime, left := range map[time.Duration][3]time.Duration{
		365 * day: {30 * day, 7 * day, 0}, 90 * day: {30 * day, 7 * day, 0}, 6 * day: {2 * day, 12 * time.Hour, 0},
	} {
		c := &Certificate{listener: "listen"}
		c.current.Store(&keyPair{begins: begins, expires: begins.Add(lifetime)})
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		for i, at := range left {
			c.warn(begins.Add(lifetime-at-time.Second), log)
			require.Equal(t, i, strings.Count(out.String(), "\n"), out.String())
			for range 2 {
				c.warn(begins.Add(lifetime-at), log)
				require.Equal(t, i+1, strings.Count(out.String(), "\n"), out.String())
			}
		}
		require.Equal(t, 2, strings.Count(out.String(), "TLS certificate not renewed yet"))
		require.Equal(t, 1, strings.Count(out.String(), "TLS certificate expired"))
	}
}

// TestCertificateIsNoPipe: a named pipe in the place of a file of a certificate or a key is
// refused at once. A node that waited for its writer would reload nothing, and not stop.
func TestCertificateIsNoPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, _, err := readPEM(pipe, nil)
	require.ErrorContains(t, err, "is not a regular file")
	_, err = readToken(pipe)
	require.ErrorContains(t, err, "is not a regular file")
}
