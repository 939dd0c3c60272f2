package restore_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/keys"
)

// written returns the journal of a node that covers commands from the given one on. Each
// command disabled the user of that name, or no user for "".
func written(t *testing.T, h backup.Header, from uint64, users ...string) restore.Journal {
	t.Helper()
	j, err := journal.Open(journal.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	j.Skipped(0, from-1, int64(from-1))
	for i, user := range users {
		seq := from + uint64(i)
		if user == "" {
			j.Covered(seq, int64(seq))
			continue
		}
		data, err := cbor.Marshal(ledger.Record{
			Seq: seq, At: ledger.Time(seq), Effects: []ledger.Effect{{Kind: ledger.EffectUserDisabled, User: user}},
		})
		require.NoError(t, err)
		j.Append(seq, int64(seq), data)
	}
	var all bytes.Buffer
	require.NoError(t, j.Export(&all))
	history, err := journal.Read(&all)
	require.NoError(t, err)
	h.Kind = backup.KindJournal
	return restore.Journal{Header: h, History: history}
}

// TestJournalsComplete completes a state with the users a to d that ends with command 5.
func TestJournalsComplete(t *testing.T) {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: ledger.Tables()})
	require.NoError(t, err)
	txn := db.Txn(true)
	for _, id := range []string{"a", "b", "c", "d"} {
		require.NoError(t, txn.Insert(ledger.TableUsers, &ledger.User{ID: id, Username: id}))
	}
	txn.Commit()
	key, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	held := keys.FixedClusterKey(key, "a test")
	tail := func(from, term uint64) backup.Header {
		return backup.Header{Tail: &backup.Tail{From: from, Term: term}}
	}
	none := backup.Header{}
	for name, test := range map[string]struct {
		journals []restore.Journal
		disabled string // disabled users, in order
		known    uint64
		gap      string
		warns    string
		refused  string
	}{
		"none":              {nil, "", 5, "there is no journal", "", ""},
		"an empty one":      {[]restore.Journal{written(t, none, 1)}, "", 5, "the journal is empty", "", ""},
		"one that ends":     {[]restore.Journal{written(t, none, 1, "", "a")}, "", 5, "the journal ends at", "", ""},
		"one":               {[]restore.Journal{written(t, none, 4, "a", "b", "c", "")}, "c", 7, "", "", ""},
		"a hole":            {[]restore.Journal{written(t, none, 8, "a")}, "a", 8, "(commands 6 to 7)", "", ""},
		"the hole is known": {[]restore.Journal{written(t, none, 8, "a"), written(t, none, 5, "", "b", "")}, "ba", 8, "", "", ""},
		"not complete":      {[]restore.Journal{written(t, backup.Header{Incomplete: "its log is gone"}, 5, "", "a")}, "a", 6, "its log is gone", "", ""},
		"a tail":            {[]restore.Journal{written(t, tail(7, 2), 5, "", "a", "b")}, "ab", 7, "", "commands 7 to 7 were decided", ""},
		"a tail that was not decided": {
			[]restore.Journal{written(t, tail(7, 2), 5, "", "a", "b"), written(t, none, 5, "", "a", "c")}, "ac", 7, "", "", "",
		},
		"two tails": {
			[]restore.Journal{written(t, tail(6, 2), 5, "", "a", "b"), written(t, tail(6, 3), 5, "", "c")}, "c", 6, "", "commands 6 to 6 were decided", "",
		},
		"a contradiction": {
			[]restore.Journal{written(t, none, 5, "", "a"), written(t, none, 5, "", "b")}, "", 0, "", "", "the journals contradict each other",
		},
		"of another cluster": {
			[]restore.Journal{written(t, backup.Header{Cluster: "https://else.example"}, 5, "")}, "", 0, "", "", "of the cluster https://else.example",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := restore.Survivor(ledger.At(db.Txn(false)), 5, 5, held, test.journals)
			if test.refused != "" {
				require.ErrorContains(t, err, test.refused)
				return
			}
			require.NoError(t, err)
			var disabled strings.Builder
			for _, line := range p.Replay.Lines {
				_, line, _ = strings.Cut(line, "user ")
				disabled.WriteString(line[:1])
			}
			require.Equal(t, test.disabled, disabled.String(), p.Replay.Lines)
			known, _ := p.KnownUntil()
			require.Equal(t, test.known, known)
			require.Contains(t, p.Gap, test.gap)
			require.Equal(t, test.gap == "", p.Gap == "")
			require.Contains(t, strings.Join(p.Warnings, "\n"), test.warns)
			attached, err := p.Attachment()
			require.NoError(t, err)
			require.Equal(t, test.disabled == "", attached == nil)
		})
	}
}
