package server

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestStatusTellsOfIsolation: a node's isolation, and the peers that closed connections,
// are in the status from which health is determined.
func TestStatusTellsOfIsolation(t *testing.T) {
	s := statusOf(cluster.Overview{
		Isolated: "the disk is full",
		Nodes:    []status.Node{{Name: "n1"}, {Name: "n2", HungUp: true}},
	})
	require.Equal(t, "the disk is full", s.Isolated)
	require.False(t, s.Nodes[0].HungUp)
	require.True(t, s.Nodes[1].HungUp)
}

func TestOverdueChangeOfTheAuthority(t *testing.T) {
	made := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	signs := cluster.AuthorityStatus{ID: strings.Repeat("a", 64), State: cluster.AuthoritySigning, Made: made.Add(-24 * time.Hour)}
	next := cluster.AuthorityStatus{ID: strings.Repeat("b", 64), State: cluster.AuthorityAnnounced, Made: made, Waits: []string{"n2", "n3"}}
	for name, test := range map[string]struct {
		all   []cluster.AuthorityStatus
		after time.Duration
		want  []string
	}{
		"one":      {[]cluster.AuthorityStatus{signs}, 48 * time.Hour, nil},
		"none":     {nil, time.Hour, nil},
		"begun":    {[]cluster.AuthorityStatus{signs, next}, 59 * time.Minute, nil},
		"too long": {[]cluster.AuthorityStatus{signs, next}, time.Hour, []string{"the change of the authority that began on 2026-11-21T09:00:00Z is not finished: aaaaaaaaaaaa is signing; bbbbbbbbbbbb is announced and waits for n2, n3"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, overdue(test.all, made.Add(test.after)))
		})
	}
}

// TestOperatorErrors: an error of the cluster has a class of admin.Problem, and with it
// an exit code.
func TestOperatorErrors(t *testing.T) {
	require.Equal(t, admin.NotFound, operatorError(&cluster.NoInvitationError{Name: "n9"}).(*admin.Problem).Class)
	require.ErrorIs(t, operatorError(cluster.ErrUnavailable), oauth.ErrUnavailable)
	require.ErrorIs(t, operatorError(cluster.ErrUnknown), oauth.ErrOutcomeUnknown)
	require.NoError(t, operatorError(nil))
}

// TestDevMarkIsOnDisk: the mark is on disk when markDev returns, so that a power cut
// can't leave the users of mintmark dev without it.
func TestDevMarkIsOnDisk(t *testing.T) {
	s := &Server{config: Config{DataDir: t.TempDir()}}
	all := durabletest.Syncs(t)
	require.NoError(t, s.markDev())
	require.Equal(t, []string{"", durabletest.Folder}, *all)
}
