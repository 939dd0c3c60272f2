package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDemoOutage: the command shows what it says, in order, and leaves nothing
// behind.
func TestDemoOutage(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := commandLine(t, "demo", "outage", "--fast")
	require.Equal(t, exitOK, r.code, "%s\n%s", r.err, r.out)
	rest := r.out
	for _, next := range []string{
		"The issuer is stopped.", "without an issuer", "The issuer is back", "The signing key is rotated",
		"200 tokens of as many unknown kids", "signs now", "has leaked", "Dana disconnects", "It is refused after",
		"WHAT", "outage: calls refused", "return: keys confirmed again", "flood: fetches of the keys",
		"rotation: first token of the new key", "emergency: tokens of the leaked key refused", "disconnection: the token refused",
		"promises were kept",
	} {
		_, behind, found := strings.Cut(rest, next)
		if strings.Contains(next, ":") { // rows of the table stand in an order of their own
			require.Contains(t, rest, next)
			continue
		}
		require.True(t, found, "%q is missing behind what came before it:\n%s", next, r.out)
		rest = behind
	}
	require.NotContains(t, r.out, "BROKEN")
	requireNothingLeft(t)
}

// TestDemoOutageInterrupted: Ctrl-C ends it, before there is a node as well as in
// the middle of an outage, with nothing left behind either.
func TestDemoOutageInterrupted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	forever := fastPace
	forever.outage = time.Hour
	out := &matchWriter{until: "The issuer is stopped.", matched: cancel}
	require.ErrorContains(t, runOutage(ctx, forever, out, io.Discard), "interrupted")
	require.Contains(t, out.text.String(), "The issuer is stopped.")
	require.NotContains(t, out.text.String(), "without an issuer")
	requireNothingLeft(t)

	var nothing bytes.Buffer
	require.ErrorContains(t, runOutage(ctx, fastPace, &nothing, io.Discard), "interrupted", "from the start")
	require.Empty(t, nothing.String())
	requireNothingLeft(t)
}

// A reader is who watches, up to a point.
type matchWriter struct {
	text    bytes.Buffer
	until   string
	matched func()
}

func (r *matchWriter) Write(p []byte) (int, error) {
	if strings.Contains(string(p), r.until) {
		r.matched()
	}
	return r.text.Write(p)
}

func requireNothingLeft(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestTranscriptOfBrokenPromises: what was not kept is said, and is an error.
func TestTranscriptOfBrokenPromises(t *testing.T) {
	for _, row := range []struct {
		name string
		tell func(*transcript)
		text string
	}{
		{"not so", func(d *transcript) { d.promise(false, "a thing", "2", "0") }, "a thing  2"},
		{"too late", func(d *transcript) { d.within(true, "a thing", 2*time.Second, time.Second) }, "a thing  2s"},
		{"never", func(d *transcript) { d.within(false, "a thing", time.Second, time.Second) }, "a thing  not within 1s"},
		{"calls refused", func(d *transcript) {
			(&outageDemo{transcript: d}).requireNoneRefused("a thing", requestCounts{all: 3, accepted: 2})
		}, "a thing  1 of 3"},
		{"no calls", func(d *transcript) { (&outageDemo{transcript: d}).requireNoneRefused("a thing", requestCounts{}) }, "a thing  0 of 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out bytes.Buffer
			d := newTranscript(t.Context(), &out)
			d.within(true, "another thing", time.Second, time.Second)
			row.tell(d)
			require.ErrorContains(t, d.conclude(), "1 of 2 promises")
			require.Contains(t, strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(row.text), " "))
			require.Contains(t, out.String(), "BROKEN")
			require.NotContains(t, out.String(), "promises were kept")
		})
	}
}
