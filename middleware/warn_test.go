package middleware_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// Invented tokens can't fill the log while the issuer is unavailable.
func TestWarningsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := verifiertest.NewInMemoryIssuer()
		issuer.Down()
		v, err := verifier.New(issuer.Config())
		require.NoError(t, err)
		defer v.Close()
		var log bytes.Buffer
		h := middleware.New(v, middleware.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}).Require("BOOKING_READ")(who)
		flood := func() []string {
			for range 50 {
				require.Equal(t, 503, do(h, request("Bearer "+issuer.Token())).StatusCode)
			}
			return strings.Split(strings.TrimSpace(log.String()), "\n")
		}
		lines := flood()
		require.Len(t, lines, 1)
		assert.Contains(t, lines[0], "token not verified")
		assert.NotContains(t, lines[0], "omitted")

		time.Sleep(10 * time.Second)
		lines = flood()
		require.Len(t, lines, 2)
		assert.Contains(t, lines[1], "omitted=49")
	})
}
