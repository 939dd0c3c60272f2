package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAuditAfter: --after returns the events after a seq, so a program that remembers the
// last seq can continue there.
func TestAuditAfter(t *testing.T) {
	c := newCLI(t)
	for i := range 5 {
		c.OK("", "user", "add", fmt.Sprint("user-", i))
	}
	all := c.Object("audit")["events"].([]any)
	require.Greater(t, len(all), 4)
	seq := func(i int) string { return strconv.Itoa(int(all[i].(map[string]any)["seq"].(float64))) }
	lines := func(args ...string) (seqs []string) {
		for line := range bytes.Lines([]byte(c.OK("", append([]string{"audit", "-o", "jsonl"}, args...)...))) {
			var e struct{ Seq int }
			require.NoError(t, json.Unmarshal(line, &e))
			seqs = append(seqs, strconv.Itoa(e.Seq))
		}
		return seqs
	}
	require.Equal(t, []string{seq(2), seq(3), seq(4)}, lines("--after", seq(1))[:3])
	require.Equal(t, []string{seq(1), seq(2)}, lines("--after", seq(0), "--limit", "2"), "the oldest")
	require.Len(t, lines("--after", "0"), len(all))
	require.Empty(t, lines("--after", seq(len(all)-1)))
	c.Fails(ExitLocal, "--output must be text or json", "user", "list", "-o", "jsonl")
	c.Fails(ExitLocal, "--output must be text\n", "export", "-o", "json")
	require.Contains(t, c.OK("", "audit", "--help"), "output format: text, json or jsonl")
	require.Contains(t, c.OK("", "user", "list", "--help"), "output format: text or json")
	c.Fails(ExitLocal, "--output must be text, json or jsonl", "audit", "-o", "xml")
	c.Fails(ExitLocal, "--output must be text, json or jsonl", "audit", "--follow", "-o", "xml")
	c.Fails(ExitLocal, "--follow needs --output text or jsonl", "audit", "--follow", "-o", "json")
}

// TestAuditRefusesWhatItDoesNotKnow: an unknown kind is an error. An empty result would
// hide the typing error.
func TestAuditRefusesWhatItDoesNotKnow(t *testing.T) {
	c := newCLI(t)
	c.Fails(ExitLocal, `--kind "zz" is no kind of event: there are the groups settings, user,`, "audit", "--kind", "zz")
	c.Fails(ExitLocal, `--limit: expected a whole number from 0 on, got "-1"`, "audit", "--limit", "-1")
	c.OK("", "audit", "--kind", "client.created", "--limit", "0")
}

// TestRefusedClientNamesNoMadeUpID: the error doesn't contain the generated id of a
// client that was not created, since the operator doesn't know that id.
func TestRefusedClientNamesNoMadeUpID(t *testing.T) {
	c := newCLI(t)
	r := c.Run("", "client", "add", "--name", "App", "--owner", "nobody", "--redirect-uri", "https://a.example/", "--scope", "BOOKING_READ")
	require.Equal(t, ExitRefused, r.Code)
	require.Equal(t, "mintmark: client: --owner \"nobody\" is not a user\n", r.Err)
}
