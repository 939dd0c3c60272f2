package issuer_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestLogosAreSwept verifies that the leader's duty removes exactly the pictures that no
// client shows.
func TestLogosAreSwept(t *testing.T) {
	b := issuertest.New(t)
	edit := func(revision uint64, picture string) [32]byte {
		id := digestOf(picture)
		b.Accept(&ledger.EditClient{Actor: ledger.Actor{Operator: true}, ID: "app", Revision: revision, Logo: []byte(picture), Profile: ledger.Profile{
			Name: "App", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}, Logo: id[:],
		}})
		return id
	}
	first := edit(1, "\x89PNG\r\n\x1a\n first")
	second := edit(2, "\x89PNG\r\n\x1a\n second")
	require.NotNil(t, b.View().Logo(second))
	require.NoError(t, b.SweepOnce(t.Context()))
	require.Nil(t, b.View().Logo(first))
	require.NotNil(t, b.View().Logo(second))

	b.Accept(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "app"})
	require.NoError(t, b.SweepOnce(t.Context()))
	require.Nil(t, b.View().Logo(second))
}

// TestEventsAreSwept verifies that the leader's duty removes events in steps, down to the
// limit.
func TestEventsAreSwept(t *testing.T) {
	b := issuertest.New(t)
	for i := range 600 {
		id := fmt.Sprint("u-", i%2)
		b.Accept(&ledger.PutUser{ID: id, Username: id, Password: fmt.Sprint("hash ", i)})
	}
	count := func() int { return len(slices.Collect(b.View().Events())) }
	before, newest := count(), b.View().LastEvent()
	require.Greater(t, before, 600)
	b.Accept(&ledger.MarkLogged{Seq: newest.Seq})
	require.NoError(t, b.SweepEvents(t.Context(), 30))
	require.Equal(t, 30, count())
	require.Equal(t, newest.Seq, b.View().LastEvent().Seq)
}
