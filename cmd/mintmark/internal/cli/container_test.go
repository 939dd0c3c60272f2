package cli

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// TestContainerGuide: the settings of the image, with those of the command in
// packages.md, are valid. The health check needs only the settings of the image.
func TestContainerGuide(t *testing.T) {
	guide := readText(t, filepath.Join("..", "..", "docs", "packages.md"))
	image := readText(t, filepath.Join("..", "..", "packaging", "Containerfile"))
	set := func(line string) {
		all := regexp.MustCompile(`(MINTMARK_[A-Z_]+)=(\S+)`).FindAllStringSubmatch(line, -1)
		require.NotEmpty(t, all, line)
		for _, m := range all {
			t.Setenv(m[1], m[2])
		}
	}
	set(regexp.MustCompile(`(?m)^ENV .*$`).FindString(image))
	t.Setenv(config.Variable(config.KeyOpsListen), ":1") // nothing listens there
	r := runLine(t, "health", "--timeout", "1s")
	require.Equal(t, ExitLocal, r.Code)
	require.Contains(t, r.Err, "mintmark: ask for health at 127.0.0.1:1: nothing listens there (start the node, or name its address with --ops-listen")
	require.NotContains(t, r.Err, "configuration")

	run := regexp.MustCompile(`(?s)\ndocker run (.*?) serve ([^\n]*)\n`).FindStringSubmatch(guide)
	require.NotNil(t, run)
	r = runLine(t, append([]string{"config", "show"}, strings.Fields(run[2])...)...)
	require.Contains(t, r.Err, "advertise", "the image needs --advertise from the command")
	set(run[1])
	r = runLine(t, append([]string{"config", "show"}, strings.Fields(run[2])...)...)
	require.Equal(t, ExitOK, r.Code, r.Err)
}

// TestReachableHere: if a listener accepts connections on every address, the health check
// uses the loopback address.
func TestReachableHere(t *testing.T) {
	for listener, want := range map[string]string{
		":8081": "127.0.0.1:8081", "0.0.0.0:8081": "127.0.0.1:8081", "[::]:8081": "[::1]:8081",
		"10.0.0.1:8081": "10.0.0.1:8081", "localhost:8081": "localhost:8081",
	} {
		require.Equal(t, want, reachableHere(listener))
	}
}
