package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestHistoryOf verifies that a client's history is found among many other events, and
// contains no other client's.
func TestHistoryOf(t *testing.T) {
	var events []*ledger.Event
	add := func(kind ledger.EventKind, client string) uint64 {
		seq := uint64(len(events) + 1)
		events = append(events, &ledger.Event{Seq: seq, At: ledger.Time(seq), Kind: kind, Client: client})
		return seq
	}
	want := []uint64{add(ledger.EventClientCreated, "a")}
	for range 300 {
		want = append(want, add(ledger.EventClientReviewed, "a"))
		for _, neighbour := range []string{"", "A", "a-", "aa", "b"} {
			add(ledger.EventClientReviewed, neighbour)
		}
		want = append(want, add(ledger.EventSecretAdded, "a"))
		add(ledger.EventSecretRevoked, "aa")
	}
	for range 25_000 {
		add(ledger.EventAllowed, "a")
	}
	v := viewOf(t, tableOf(ledger.TableAudit, events))
	for _, limit := range []int{1, 10, 1000} {
		var seqs []uint64
		for _, e := range v.HistoryOf("a", limit) {
			seqs = append([]uint64{e.Seq}, seqs...)
		}
		require.Equal(t, want[max(0, len(want)-limit):], seqs, limit)
	}
	require.Empty(t, v.HistoryOf("c", 10))
	require.Empty(t, v.HistoryOf("", 10))
}
