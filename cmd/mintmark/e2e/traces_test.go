package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// TestTraces: OpenTelemetry's own collector can read what a node sends.
func TestTraces(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50") // milliseconds until a batch is sent
	programs := t.TempDir()
	require.NoError(t, testkit.GoBuild(filepath.Join(root, "cmd", "mintmark", "e2e", "verifiers"), "-o", programs, "./otlp"))
	bodies := make(chan string, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			bodies <- string(body)
		}
	}))
	t.Cleanup(collector.Close)
	n := serve(t, freePort(t), "http://127.0.0.1:9999/callback", "--otlp-endpoint", collector.URL)

	response, err := http.PostForm(n.BaseURL+"/v2/auth/oauth2/token", nil)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	const want = "mintmark Server Unset POST /v2/auth/oauth2/token map[http.request.method:POST http.response.status_code:400 http.route:/v2/auth/oauth2/token]\n"
	var read strings.Builder
	for !strings.Contains(read.String(), want) {
		select {
		case body := <-bodies:
			otlp := exec.Command(filepath.Join(programs, "otlp"))
			otlp.Stdin, otlp.Stdout, otlp.Stderr = strings.NewReader(body), &read, &read
			require.NoError(t, otlp.Run(), "%s", &read)
		case <-time.After(time.Minute):
			require.FailNow(t, "no such span", "%s", &read)
		}
	}
}
