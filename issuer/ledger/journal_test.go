package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// refresh returns an ordinary refresh and the state before it, as the log applies it.
func refresh(t testing.TB) (v ledger.View, c command.Command, d command.Decision, m command.Meta) {
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "sign-in alice", "import cal owner=alice secrets=s1 scopes=PROFILE_READ",
		"allow alice client=cal scope=PROFILE_READ grant=g", "exchange client=cal secret=s1 grant=g",
		"now +1h", // so that the use of the secret is recorded as well
	} {
		w.run(line)
	}
	v, m = w.view(), command.Meta{Seq: w.seq + 1, At: int64(w.at())}
	c = w.command(parseLine("refresh client=cal secret=s1 grant=g gen=1"))
	d = c.Decide(w.memory.View(), m)
	require.NotNil(t, d.Outcome.(ledger.Outcome).Issued)
	require.Len(t, d.Changes, 2)
	return v, c, d, m
}

// TestRefreshCostsTheJournalNothing: refreshes are the most frequent command.
func TestRefreshCostsTheJournalNothing(t *testing.T) {
	v, c, d, m := refresh(t)
	require.Nil(t, ledger.JournalRecord(v, c, d, m))
	require.Zero(t, testing.AllocsPerRun(100, func() { ledger.JournalRecord(v, c, d, m) }))
}

func BenchmarkJournalOfARefresh(b *testing.B) {
	v, c, d, m := refresh(b)
	b.ReportAllocs()
	for b.Loop() {
		if ledger.JournalRecord(v, c, d, m) != nil {
			b.Fatal("a refresh has a journal record")
		}
	}
}

func BenchmarkDecideRefresh(b *testing.B) {
	v, c, _, m := refresh(b)
	b.ReportAllocs()
	for b.Loop() {
		v.Decide(c, m)
	}
}
