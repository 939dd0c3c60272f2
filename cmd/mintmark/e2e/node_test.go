package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// runNode runs a script of clients/ and reads its result. When the script prints an
// authorization URL, who acts as the user.
func runNode(t testing.TB, script string, args any, who *person, result any) {
	t.Helper()
	text, err := json.Marshal(args)
	require.NoError(t, err)
	runClient(t, nodeScript(t, script, string(text)), who, result)
}

// nodeScript is the command of a script of clients/.
func nodeScript(t testing.TB, script, args string) *exec.Cmd {
	t.Helper()
	modules := filepath.Join("clients", "node_modules")
	if _, err := os.Stat(modules); err != nil {
		t.Fatalf("%s is missing: run make deps", modules)
	}
	c := exec.Command(installed(t, "node"), script, args)
	c.Dir = "clients"
	return c
}

// runClient runs a program that talks as the scripts of clients/ do, and reads its result.
func runClient(t testing.TB, c *exec.Cmd, who *person, result any) {
	t.Helper()
	script := filepath.Base(c.Args[len(c.Args)-2]) // the last argument is what it has to do
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdin, err := c.StdinPipe()
	require.NoError(t, err)
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	slow := time.AfterFunc(3*time.Minute, func() { _ = c.Process.Kill() })
	defer slow.Stop()
	ended := false
	t.Cleanup(func() { // who may end this function early
		if !ended {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})

	var line struct {
		Visit, Decision string
		Result          json.RawMessage
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line.Visit = ""
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line), "%s prints %s", script, lines.Text())
		if line.Visit != "" {
			_, err := fmt.Fprintln(stdin, who.decide(line.Visit, line.Decision))
			require.NoError(t, err)
		}
	}
	err = c.Wait()
	ended = true
	require.NoError(t, err, "%s: %s", script, &stderr)
	require.NotEmpty(t, line.Result, "%s has no result", script)
	require.NoError(t, json.Unmarshal(line.Result, result))
}
