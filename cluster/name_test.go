package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/member"
)

func TestNames(t *testing.T) {
	t.Parallel()
	n := open(t, networked(t, "", "n1"))
	require.Eventually(t, func() bool { return len(n.Members()) == 1 }, 20*time.Second, time.Millisecond)
	for name, valid := range map[string]bool{
		"a": true, "7": true, "n2.example-host_3": true, strings.Repeat("x", 63): true,
		"": false, strings.Repeat("x", 64): false, "-a": false, "a.": false, "a b": false, "ä": false, "a\n": false, "a/b": false,
	} {
		require.Equal(t, valid, member.ValidName(name), "%q", name)
		_, _, err := n.Invite(t.Context(), name, "", time.Hour)
		if valid {
			require.NoError(t, err, "%q", name)
		} else {
			requireRefused(t, err, member.NameRule)
		}
	}
}
