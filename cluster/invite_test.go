package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// TestInvitationsAreListedAndWithdrawn: a withdrawn token is refused, and a used token is
// not listed.
func TestInvitationsAreListedAndWithdrawn(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	n := tr.nodes[1]
	open, stale := n.Invitations(t.Context())
	require.Empty(t, open, "used invitations are not listed")
	require.False(t, stale)
	token, expires, err := n.Invite(t.Context(), "n5", "n3", time.Hour)
	require.NoError(t, err)
	_, _, err = n.Invite(t.Context(), "n4", "", time.Minute)
	require.NoError(t, err)
	open, _ = tr.nodes[2].Invitations(t.Context())
	require.Len(t, open, 2)
	require.Equal(t, "n4", open[0].Name)
	require.Equal(t, "n5", open[1].Name)
	require.Equal(t, "n3", open[1].Replaces)
	require.WithinDuration(t, expires, open[1].Expires, 5*time.Second)

	require.NoError(t, tr.nodes[2].WithdrawInvitation(t.Context(), "n5"))
	open, _ = n.Invitations(t.Context())
	require.Len(t, open, 1)
	require.Equal(t, "n4", open[0].Name)
	c := networked(t, "", "n5")
	err = tr.joinBy(t.Context(), c, token)
	requireRefused(t, err, "not known, or has expired")
	require.ErrorIs(t, err, member.ErrUnknownInvite, "the reply to a join carries the sentinel error")
	var none *cluster.NoInvitationError
	require.ErrorAs(t, n.WithdrawInvitation(t.Context(), "n5"), &none)
	err = n.WithdrawInvitation(t.Context(), "n3")
	requireRefused(t, err, "has joined")
	require.ErrorIs(t, err, member.ErrInvitationUsed)
	_, _, err = n.Invite(t.Context(), "n5", "n3", time.Hour)
	require.NoError(t, err, "the name is free again")
}
