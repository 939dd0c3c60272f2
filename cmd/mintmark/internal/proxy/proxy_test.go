package proxy

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClientIP(t *testing.T) {
	p, err := Parse([]string{"10.0.0.0/8", "::1"})
	require.NoError(t, err)
	for name, row := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"a stranger":                {"192.0.2.1:5", nil, "192.0.2.1"},
		"a stranger's header":       {"192.0.2.1:5", []string{"198.51.100.1"}, "192.0.2.1"},
		"through a proxy":           {"10.1.1.1:5", []string{"198.51.100.1"}, "198.51.100.1"},
		"forged through a proxy":    {"10.1.1.1:5", []string{"203.0.113.7, 198.51.100.1"}, "198.51.100.1"},
		"through two":               {"10.1.1.1:5", []string{"198.51.100.1, 10.2.2.2"}, "198.51.100.1"},
		"two headers":               {"10.1.1.1:5", []string{"203.0.113.7", "198.51.100.1"}, "198.51.100.1"},
		"a proxy that says nothing": {"10.1.1.1:5", nil, "10.1.1.1"},
		"a proxy that says rubbish": {"10.1.1.1:5", []string{"rubbish"}, "10.1.1.1"},
		"an address with a port":    {"10.1.1.1:5", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		"IPv6 with a port":          {"10.1.1.1:5", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		"IPv6 in brackets":          {"10.1.1.1:5", []string{"[2001:db8::1]"}, "2001:db8::1"},
		"two with ports":            {"10.1.1.1:5", []string{"198.51.100.1:1, 10.2.2.2:2"}, "198.51.100.1"},
		"IPv6":                      {"[::1]:5", []string{"2001:db8::1"}, "2001:db8::1"},
	} {
		r := &http.Request{RemoteAddr: row.peer, Header: http.Header{"X-Forwarded-For": row.forwarded}}
		require.Equal(t, row.want, p.clientIP(r), name)
	}
	_, err = Parse([]string{"example.com"})
	require.Error(t, err)
}

// TestForwardedByNobodyTrusted: X-Forwarded-For of an untrusted peer is ignored, and
// logged once.
func TestForwardedByNobodyTrusted(t *testing.T) {
	p, err := Parse([]string{"10.0.0.0/8"})
	require.NoError(t, err)
	var log bytes.Buffer
	clientIP := p.ClientIP(slog.New(slog.NewTextHandler(&log, nil)))
	ask := func(peer string) string {
		return clientIP(&http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {"198.51.100.1"}}})
	}
	require.Equal(t, "198.51.100.1", ask("10.1.1.1:5"))
	require.Empty(t, log.String())
	for range 3 {
		require.Equal(t, "192.0.2.1", ask("192.0.2.1:5"))
	}
	require.Equal(t, 1, strings.Count(log.String(), "X-Forwarded-For ignored"))
}
