package issuer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// TestFirstSettings: each node of a static bootstrap proposes its settings. Only the first
// are accepted, even if the cluster has changed them since.
func TestFirstSettings(t *testing.T) {
	memory := machine.NewMemory(replica.Machine(), time.Now)
	propose := func(id byte, url string, first bool) (wrote bool) {
		s := ledger.DefaultSettings()
		s.BaseURL, s.AppURL, s.Audience = url, url, url
		value, wrote := memory.Do(&ledger.Configure{Settings: s, First: first}, command.ID{id}, false)
		require.Nil(t, value.(ledger.Outcome).Refusal)
		return wrote
	}
	settings := func() string { return ledger.At(memory.View()).Settings().BaseURL }
	require.True(t, propose(1, "https://a.example", true))
	require.False(t, propose(2, "https://a.example", true))
	require.False(t, propose(3, "https://b.example", true))
	require.Equal(t, "https://a.example", settings())
	require.True(t, propose(4, "https://c.example", false))
	require.False(t, propose(5, "https://a.example", true))
	require.Equal(t, "https://c.example", settings())
}
