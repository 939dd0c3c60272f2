package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
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
