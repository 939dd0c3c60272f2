package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStopInOrder: /readyz answers 503 while the stopping node still accepts requests.
// Then the listener closes. A request that was half sent by then is still answered.
func TestStopInOrder(t *testing.T) {
	dir := t.TempDir()
	_, tokens, _ := seed(t, dir, 2)
	n := newNodeOf(t, filepath.Join(dir, "data"))
	n.start(t, "--drain", "5s")
	require.True(t, n.WaitReady(20*time.Second))

	require.NoError(t, n.Process().Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool {
		status, _, text := asked(t, n.OpsURL()+"/readyz?verbose")
		return status == http.StatusServiceUnavailable && strings.Contains(text, "[-]stopping node is stopping")
	}, 20*time.Second, 10*time.Millisecond)
	status, _ := tokenAnswer(t, n.Public, tokens[0])
	require.Equal(t, http.StatusOK, status, "requests are still answered while /readyz fails")
	slow, err := net.Dial("tcp", n.Public)
	require.NoError(t, err)
	defer slow.Close()
	body := refreshForm(tokens[1])
	_, err = fmt.Fprintf(slow, "POST /v2/auth/oauth2/token HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s",
		n.Public, len(body), body[:10])
	require.NoError(t, err)

	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", n.Public)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, 20*time.Second, 10*time.Millisecond, "the listener closes")
	_, err = slow.Write([]byte(body[10:]))
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(slow), nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.NoError(t, n.Process().Wait(), "the exit code is 0")
}
