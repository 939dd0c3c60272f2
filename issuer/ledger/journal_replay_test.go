package ledger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func TestReplayRefuses(t *testing.T) {
	record := func(seq uint64, effects ...ledger.Effect) ledger.Record {
		return ledger.Record{Seq: seq, At: 1, Effects: effects}
	}
	disabled := ledger.Effect{Kind: ledger.EffectUserDisabled, User: "u-alice"}
	tests := []struct {
		name  string
		c     ledger.Replay
		cause ledger.Cause
	}{
		{"in order", ledger.Replay{Records: []ledger.Record{record(1, disabled), record(2)}}, ledger.NoCause},
		{"nothing", ledger.Replay{}, ledger.NoCause},
		{"out of order", ledger.Replay{Records: []ledger.Record{record(2), record(1)}}, ledger.BadField},
		{"a position twice", ledger.Replay{Records: []ledger.Record{record(2), record(2)}}, ledger.BadField},
		{"a backup later than the restore", ledger.Replay{Backup: 1000}, ledger.BadField},
		{"no kind", ledger.Replay{Records: []ledger.Record{record(1, ledger.Effect{})}}, ledger.BadField},
		{"a later version's kind", ledger.Replay{Records: []ledger.Record{record(1, ledger.Effect{Kind: ledger.LastEffect + 1})}}, ledger.BadField},
		{"no secret", ledger.Replay{Records: []ledger.Record{record(1, ledger.Effect{Kind: ledger.EffectSecretAdded})}}, ledger.BadField},
		{"no key", ledger.Replay{Records: []ledger.Record{record(1, ledger.Effect{Kind: ledger.EffectKeyAdded})}}, ledger.BadField},
		{"no scopes", ledger.Replay{Records: []ledger.Record{record(1, ledger.Effect{Kind: ledger.EffectScopesSelected})}}, ledger.BadField},
		{"no time", ledger.Replay{Records: []ledger.Record{{Seq: 1}}}, ledger.BadField},
		{"too many", ledger.Replay{Records: []ledger.Record{record(1, make201(disabled)...)}}, ledger.BadField},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			w.run("user alice")
			o, _ := w.do(&test.c, "", false)
			require.Equal(t, ledger.NotRestored, o.Refusal.Cause, "there was no restore")
			w.must(&ledger.BeginRestore{})
			before := w.memory.Checksum()
			o, wrote := w.do(&test.c, "", false)
			if test.cause == ledger.NoCause {
				require.Nil(t, o.Refusal)
				return
			}
			require.Equal(t, test.cause, o.Refusal.Cause)
			require.False(t, wrote)
			require.Equal(t, before, w.memory.Checksum())
		})
	}
}

// TestReplaySkipsWhatTheBackupHas verifies that records up to the Seq of the backup, and of
// the last replayed record, are skipped.
func TestReplaySkipsWhatTheBackupHas(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.must(&ledger.BeginRestore{})
	record := func(seq uint64, kind ledger.EffectKind) ledger.Record {
		return ledger.Record{Seq: seq, At: 1, Effects: []ledger.Effect{{Kind: kind, User: "u-alice"}}}
	}
	disabled, enabled := record(3, ledger.EffectUserDisabled), record(4, ledger.EffectUserEnabled)

	_, wrote := w.do(&ledger.Replay{Backup: 3, Records: []ledger.Record{disabled}}, "", false)
	require.False(t, wrote)
	w.must(&ledger.Replay{Backup: 2, Records: []ledger.Record{disabled}})
	require.True(t, w.view().User("u-alice").Disabled)
	w.must(&ledger.Replay{Backup: 2, Records: []ledger.Record{disabled, enabled}})
	require.False(t, w.view().User("u-alice").Disabled)
	_, wrote = w.do(&ledger.Replay{Backup: 2, Records: []ledger.Record{disabled, enabled}}, "", false)
	require.False(t, wrote)
}

func make201(e ledger.Effect) (list []ledger.Effect) {
	for range ledger.MaxReplay + 1 {
		list = append(list, e)
	}
	return list
}

// TestPreviewBeforeRestore verifies that a preview on a backup that was never restored counts the
// grants that a replay would end.
func TestPreviewBeforeRestore(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "sign-in alice", "settings agents=listed", "put-publisher agent.example scopes=PROFILE_READ", "document https://agent.example/client by=alice"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	p, refused := w.view().PreviewReplay(w.seq, []ledger.Record{{Seq: w.seq + 1, At: 1, Effects: []ledger.Effect{
		{Kind: ledger.EffectClientRevoked, Client: ledger.ClientKey("https://agent.example/client"), RevokedBefore: w.seq + 1},
	}}})
	require.Nil(t, refused)
	require.Equal(t, []ledger.EffectCount{{Kind: ledger.EffectClientRevoked, Changes: 1}}, p.Counts)
}

// TestReplaysFit verifies that a long journal is split into commands of permitted size, and
// that no record is lost, split or reordered.
func TestReplaysFit(t *testing.T) {
	long := strings.Repeat("x", 500)
	var records []ledger.Record
	for seq := uint64(1); seq <= 700; seq++ {
		client := fmt.Sprintf("client-%d", seq)
		r := ledger.Record{Seq: seq, At: 1_800_000_000_000, Actor: "u-" + client, Effects: []ledger.Effect{
			{Kind: ledger.EffectClientNarrowed, Client: client, URIs: []string{long, long}, Scopes: []string{"PROFILE_READ", "BOOKING_READ"}},
			{Kind: ledger.EffectSecretAdded, Client: client, Secret: &ledger.NewSecret{ID: "s", Key: 1 << 31, Digest: id32(1), Tail: "tail"}},
			{Kind: ledger.EffectSignedOut, User: "u-" + client, Session: id32(2)},
			{Kind: ledger.EffectKeyAdded, Key: &ledger.Key{
				ID: client, Purpose: ledger.ForCredentials, Number: 1 << 31, Algorithm: "ES256", Public: []byte(long), Sealed: []byte(long),
				State: ledger.KeyRetiring, Announced: 1 << 60, Activated: 1 << 60, Retired: 1 << 60, SealedUnder: long,
			}},
			{Kind: ledger.EffectRewrapped, ID: long, Sealed: []ledger.SealedKey{{ID: client, Sealed: []byte(long)}}},
			{Kind: ledger.EffectGrantEnded, Grant: id16(client), Client: client, User: client, Cause: ledger.SecondFastForward},
			{Kind: ledger.EffectClientState, Client: client, State: ledger.Suspended, Reason: long},
			{Kind: ledger.EffectPassword, User: client, Password: long},
			{Kind: ledger.EffectClientTransferred, User: long, Client: client},
			{Kind: ledger.EffectResourceRemoved, Resource: long},
		}}
		if seq%7 != 0 {
			r.Effects = r.Effects[2:3] // most records are small
		}
		records = append(records, r)
	}
	var back []ledger.Record
	commands := ledger.Replays(100, records)
	for _, c := range commands {
		encoded, err := cbor.Marshal(c)
		require.NoError(t, err)
		require.Less(t, len(encoded), command.MaxBody)
		effects := 0
		for _, r := range c.Records {
			effects += len(r.Effects)
		}
		require.LessOrEqual(t, effects, ledger.MaxReplay)
		require.Equal(t, uint64(100), c.Backup)
		back = append(back, c.Records...)
	}
	require.Equal(t, records[100:], back)
	require.Less(t, len(commands), 60, "the commands are not filled")
}

// TestReplaysOfDeletionsFit verifies that a command has half as many deletions as other
// effects, since each removes the client's figures too.
func TestReplaysOfDeletionsFit(t *testing.T) {
	var records []ledger.Record
	for seq := range uint64(ledger.MaxReplay) {
		records = append(records, ledger.Record{Seq: seq + 1, Effects: []ledger.Effect{{Kind: ledger.EffectClientDeleted, Client: "c"}}})
	}
	commands := ledger.Replays(0, records)
	require.Len(t, commands, 2)
	require.Len(t, commands[0].Records, ledger.MaxReplay/2)
}

// TestReplayOfARewrapFits verifies that the keys of a keyring that was rewrapped count for the
// rows of a command.
func TestReplayOfARewrapFits(t *testing.T) {
	w := newEnv(t)
	rewrapped := ledger.Effect{Kind: ledger.EffectRewrapped, ID: "new"}
	opened := "acknowledge n1 keys=k1,c1"
	for n := 2; n <= 60; n++ {
		opened += fmt.Sprintf(",c%d", n)
		require.Equal(t, "ok", w.run(fmt.Sprintf("add-key c%d purpose=credential number=%[1]d", n)))
		require.Equal(t, "ok", w.run(opened))
		require.Equal(t, "ok", w.run(fmt.Sprintf("activate c%d voters=n1", n)))
	}
	for k := range w.view().Keys() {
		rewrapped.Sealed = append(rewrapped.Sealed, ledger.SealedKey{ID: k.ID, Sealed: []byte("new")})
	}
	require.Len(t, rewrapped.Sealed, 61)
	var records []ledger.Record
	for seq := range uint64(ledger.MaxReplay - 1) {
		name := fmt.Sprintf("user%d", seq)
		w.run("user " + name)
		records = append(records, ledger.Record{Seq: 10_000 + seq, At: 1, Effects: []ledger.Effect{{Kind: ledger.EffectUserDisabled, User: "u-" + name}}})
	}
	records = append(records, ledger.Record{Seq: 20_000, At: 1, Effects: []ledger.Effect{rewrapped}})
	backup := w.seq
	_, refused := w.view().PreviewReplay(backup, records)
	require.Nil(t, refused)
	w.must(&ledger.BeginRestore{Backup: backup})
	o, _ := w.do(&ledger.Replay{Backup: backup, Records: records}, "", false)
	require.Equal(t, ledger.BadField, o.Refusal.Cause)
	for _, c := range ledger.Replays(backup, records) {
		w.must(c)
	}
	require.True(t, w.view().User("u-user198").Disabled)
	require.Equal(t, "new", w.view().SealedUnder())
}

// TestRowsOfKeys verifies how many rows the effects on keys count for.
func TestRowsOfKeys(t *testing.T) {
	for name, test := range map[string]struct {
		effect ledger.Effect
		most   int // in one command
	}{
		"added":     {ledger.Effect{Kind: ledger.EffectKeyAdded, Key: &ledger.Key{}}, ledger.MaxReplay},
		"activated": {ledger.Effect{Kind: ledger.EffectKeyActivated}, ledger.MaxReplay / 2},
		"dropped":   {ledger.Effect{Kind: ledger.EffectKeyDropped}, ledger.MaxReplay / 2},
		"rewrapped": {ledger.Effect{Kind: ledger.EffectRewrapped, Sealed: make([]ledger.SealedKey, 39)}, ledger.MaxReplay / 40},
	} {
		records := make([]ledger.Record, test.most+1)
		for i := range records {
			records[i] = ledger.Record{Seq: uint64(i + 1), Effects: []ledger.Effect{test.effect}}
		}
		size := len(ledger.Replays(0, records)[0].Records)
		require.LessOrEqual(t, size, test.most, name)
		if name != "added" { // which the size in bytes bounds
			require.Equal(t, test.most, size, name)
		}
	}
}

// TestPreviewRefusesWhatDoesNotFit verifies that a record for which no command is large enough
// is found before the restore begins.
func TestPreviewRefusesWhatDoesNotFit(t *testing.T) {
	w := newEnv(t)
	e := ledger.Effect{Kind: ledger.EffectUserDisabled, User: "u-alice"}
	_, refused := w.view().PreviewReplay(0, []ledger.Record{{Seq: 1, At: 1, Effects: make201(e)}})
	require.Equal(t, ledger.BadField, refused.Cause)
	_, refused = w.view().PreviewReplay(0, []ledger.Record{{Seq: 1, At: 1, Effects: make201(e)[1:]}})
	require.Nil(t, refused)
}

func id32(n byte) (id [32]byte) { id[0] = n; return id }

// TestEffectsHaveNames verifies that each kind has a name for the operator of a restore.
func TestEffectsHaveNames(t *testing.T) {
	for kind := ledger.EffectGrantEnded; kind <= ledger.LastEffect; kind++ {
		require.NotContains(t, kind.String(), "effects of kind")
		e := ledger.Effect{Kind: kind, Secret: &ledger.NewSecret{}, Key: &ledger.Key{}}
		require.NotEqual(t, kind.String(), e.String())
	}
	require.Equal(t, "effects of kind 99", ledger.EffectKind(99).String())
	require.Equal(t, "unknown cause", ledger.Cause(9999).String())
	narrowed := ledger.Effect{Kind: ledger.EffectClientNarrowed, Client: "app", URIs: []string{"https://a.example/"}}
	require.Equal(t, "client app narrowed to redirect URIs https://a.example/ and scopes (none)", narrowed.String())
}

// TestReplayBringsNoTimeThatIsYetToCome: the clock of the abandoned cluster may have been
// ahead.
func TestReplayBringsNoTimeThatIsYetToCome(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.must(&ledger.BeginRestore{})
	soon := ledger.Time(w.now.Add(time.Hour).UnixMilli())
	later := soon.Add(400 * 24 * time.Hour)
	key := ledger.Key{
		ID: "k9", Purpose: ledger.ForSigning, Sealed: []byte("x"), State: ledger.KeyAnnounced,
		Announced: later, PropagatedAt: later.Add(10 * time.Minute),
	}
	w.must(&ledger.Replay{Backup: 2, Records: []ledger.Record{{Seq: 3, At: later, Effects: []ledger.Effect{{Kind: ledger.EffectKeyAdded, Key: &key}}}}})
	k := w.view().Key("k9")
	now := k.Announced
	require.Less(t, now, soon)
	require.Equal(t, now.Add(10*time.Minute), k.PropagatedAt)
	w.must(&ledger.Replay{Backup: 2, Records: []ledger.Record{{Seq: 4, At: later, Effects: []ledger.Effect{{Kind: ledger.EffectKeyActivated, ID: "k9"}}}}})
	require.Less(t, w.view().Key("k9").Activated, soon)
}
