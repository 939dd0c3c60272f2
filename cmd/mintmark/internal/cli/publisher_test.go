package cli

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestPublisherShowsItsBounds: a host has clients with documents and registered ones, and the
// programs on users' computers are registered ones only.
func TestPublisherShowsItsBounds(t *testing.T) {
	c := newCLI(t)
	for _, add := range [][]string{{"local"}, {"agent.example"}, {"other.example", "--max-clients", "70"}} {
		c.OK("", append([]string{"publisher", "add", "--scope", "PROFILE_READ", "--default-scope", "PROFILE_READ"}, add...)...)
	}
	local := c.OK("", "publisher", "show", "local")
	require.NotContains(t, local, "Most documents")
	require.Regexp(t, `(?m)^Most registered clients +190$`, local)
	for host, documents := range map[string]string{"agent.example": "20", "other.example": "70"} {
		shown := c.OK("", "publisher", "show", host)
		require.Regexp(t, `(?m)^Most documents +`+documents+`$`, shown)
		require.Regexp(t, `(?m)^Most registered clients +90$`, shown)
	}
}

// TestPublisherSetApprovesNone: a rejected publisher stays rejected.
func TestPublisherSetApprovesNone(t *testing.T) {
	c := newCLI(t)
	c.OK("", "publisher", "add", "agent.example", "--scope", "PROFILE_READ")
	c.OK("", "publisher", "reject", "agent.example")
	c.Fails(2, "its state does not allow that", "publisher", "set", "agent.example", "--scope", "BOOKING_READ")
	require.Regexp(t, `(?m)^State +rejected$`, c.OK("", "publisher", "show", "agent.example"))
}

// TestAgentIsNamedByEitherID: an agent has a client_id, which grants and refusals show, and a short
// id. Commands take both.
func TestAgentIsNamedByEitherID(t *testing.T) {
	c := newCLI(t)
	const clientID = "https://agent.example/helper"
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience, s.Agents = "https://id.example", "https://id.example", "https://id.example", ledger.AgentsReviewed
	c.Do(&ledger.Configure{Settings: s})
	c.userDoes([]string{"document", "u-alice", clientID})
	pending := c.OK("", "publisher", "show", "agent.example")
	require.Contains(t, pending, "approved, but the publisher is pending")
	require.NotContains(t, pending, "Most documents")
	id := regexp.MustCompile(`doc\.[0-9a-f]+`).FindString(pending)

	c.OK("", "publisher", "add", "agent.example", "--scope", "PROFILE_READ", "--default-scope", "PROFILE_READ")
	require.NotContains(t, c.OK("", "publisher", "show", "agent.example"), "but the publisher")
	c.userDoes([]string{"agent", "u-alice", clientID})
	for _, name := range []string{clientID, id} {
		require.Contains(t, c.OK("", "client", "show", name), id)
		c.OK("", "client", "suspend", name)
		require.Regexp(t, `(?m)^State +suspended$`, c.OK("", "client", "show", name))
		c.OK("", "client", "resume", name)
		require.Contains(t, c.OK("", "grant", "list", "--client", name), clientID)
		require.Contains(t, c.OK("", "audit", "--client", name, "--kind", "client.reviewed"), "client.reviewed")
	}
	c.OK("", "grant", "disconnect", "--user", "alice", "--client", id)
	require.NotContains(t, c.OK("", "grant", "list", "--user", "alice"), clientID)
	c.OK("", "client", "delete", clientID, "--yes")
	require.Regexp(t, `(?m)^State +deleted$`, c.OK("", "client", "show", id))
}
