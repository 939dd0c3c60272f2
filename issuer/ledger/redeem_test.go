package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// decide decides a line on the current state without applying the decision.
func (w *env) decide(line string) command.Decision {
	return w.command(parseLine(line)).Decide(w.memory.View(), command.Meta{At: int64(w.at()), Seq: 1 << 40, ID: id16("of nobody")})
}

// newGrantEnv has a confidential client cal, a public client native, and a grant g of cal
// whose code was exchanged.
func newGrantEnv(t *testing.T) *env {
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "sign-in alice",
		"import cal owner=alice secrets=s1 revoked=s0 scopes=PROFILE_READ,BOOKING_READ",
		"import other owner=alice secrets=o1 scopes=PROFILE_READ",
		"import stopped owner=alice secrets=s1 scopes=PROFILE_READ state=suspended",
		"import native owner=alice type=public scopes=PROFILE_READ uris=http://127.0.0.1/cb",
	} {
		require.Equal(t, "ok", w.run(line), line)
	}
	w.run("allow alice client=cal scope=PROFILE_READ,BOOKING_READ grant=g")
	require.Contains(t, w.run("exchange client=cal secret=s1 grant=g"), "issued generation 1")
	return w
}

// TestConfirmFresh verifies that a refusal of a genuine credential is confirmed on a fresh
// view if another node's state could turn it into an acceptance. A guess is not confirmed,
// nor is a decision that goes through the log.
func TestConfirmFresh(t *testing.T) {
	w := newGrantEnv(t)
	for line, want := range map[string]struct{ confirm, authenticated bool }{
		"refresh client=cal secret=s1 grant=g gen=1":      {false, false},
		"refresh client=cal secret=wrong grant=g gen=1":   {true, false},
		"refresh client=cal secret=s0 grant=g gen=1":      {true, false},
		"refresh client=cal secret=wrong forged":          {false, false},
		"refresh client=cal secret=s1 forged":             {false, false},
		"refresh client=cal secret=s1 grant=gone gen=1":   {true, true},
		"refresh client=other secret=o1 grant=g gen=1":    {true, true},
		"refresh client=stopped secret=s1 grant=g gen=1":  {true, true},
		"refresh client=stopped secret=s1 forged":         {false, false},
		"refresh client=native grant=gone gen=1":          {true, false},
		"refresh client=nobody secret=s1 grant=g gen=1":   {true, false},
		"exchange client=cal secret=s1 grant=g uri=other": {true, true},
	} {
		d := w.decide(line)
		require.Equal(t, want.confirm, d.ConfirmFresh, line)
		require.Equal(t, want.authenticated, d.Authenticated, line)
	}
	w.run("refresh client=cal secret=s1 grant=g gen=1")
	w.run("refresh client=cal secret=s1 grant=g gen=2")
	d := w.decide("refresh client=cal secret=s1 grant=g gen=1")
	require.True(t, d.ReuseDetected)
	require.False(t, d.ConfirmFresh, "reuse is decided through the log")
}

// TestCodeOfARevokedGrant verifies that revoking a grant invalidates its unused code.
func TestCodeOfARevokedGrant(t *testing.T) {
	w := newGrantEnv(t)
	w.run("allow alice client=cal scope=PROFILE_READ grant=h")
	require.Equal(t, "ok", w.run("revoke h by=alice"))
	require.Contains(t, w.run("exchange client=cal secret=s1 grant=h"), "invalid_grant")
}

// TestShared verifies that only the first repetition of the third consecutive generation
// reports the grant as shared.
func TestShared(t *testing.T) {
	w := newGrantEnv(t)
	refresh := func(generation int) bool {
		o, _ := w.do(w.command(parseLine(fmt.Sprintf("refresh client=cal secret=s1 grant=g gen=%d", generation))), "", false)
		require.NotNil(t, o.Issued)
		return o.Issued.Shared
	}
	for generation := 1; generation <= 3; generation++ {
		require.False(t, refresh(generation), "the first request of generation %d", generation)
		require.Equal(t, generation == 3, refresh(generation), generation)
		require.False(t, refresh(generation), "the second repetition of generation %d", generation)
	}
}

func TestNarrowedByNothing(t *testing.T) {
	w := newGrantEnv(t)
	require.Contains(t, w.run("refresh client=cal secret=s1 grant=g gen=1 scope=,"), "invalid_scope")
	o, _ := w.do(w.command(parseLine("refresh client=cal secret=s1 grant=g gen=1 scope=")), "", false)
	require.Equal(t, w.view().Grant(id16("g")).Scope, o.Issued.Scope)
}

// TestSecretUseIsWrittenOnceAMinute: each write of a client's row copies it.
func TestSecretUseIsWrittenOnceAMinute(t *testing.T) {
	w := newGrantEnv(t)
	writes := func(generation int) (n int) {
		d := w.decide(fmt.Sprintf("refresh client=cal secret=s1 grant=g gen=%d", generation))
		for _, c := range d.Changes {
			if c.Table == ledger.TableClients {
				n++
			}
		}
		return n
	}
	require.Zero(t, writes(1), "the exchange was in the same minute")
	w.now = w.now.Add(time.Minute)
	require.Equal(t, 1, writes(1))
	w.run("refresh client=cal secret=s1 grant=g gen=1")
	require.Zero(t, writes(2))
}

func TestUnspent(t *testing.T) {
	w := newGrantEnv(t)
	w.run("refresh client=cal secret=s1 grant=g gen=1")
	w.run("refresh client=cal secret=s1 grant=g gen=2")
	m := command.Meta{At: int64(w.at())}
	for generation, want := range []bool{false, false, true, true, true} {
		require.Equal(t, want, w.view().Unspent(ledger.CredentialRef{Grant: id16("g"), Generation: uint32(generation)}, m), generation)
	}
	require.True(t, w.view().Unspent(ledger.CredentialRef{Grant: id16("unknown")}, m))
}

func TestParseGrantID(t *testing.T) {
	const text = "000102030405060708090a0b0c0d0e0f"
	id, ok := ledger.ParseGrantID(text)
	require.True(t, ok)
	require.Equal(t, text, id.String())
	for _, bad := range []string{"", text[:30], text[:31], text + "00", text + "0", text[:30] + "zz", "zz" + text[2:]} {
		_, ok := ledger.ParseGrantID(bad)
		require.False(t, ok, bad)
	}
}

// TestSessionCommands sends commands that the pages never send.
func TestSessionCommands(t *testing.T) {
	w := newGrantEnv(t)
	signIn := func(name string) *ledger.SignIn {
		return &ledger.SignIn{Session: sessionOf(name), User: "u-alice", VerifiedHash: sha256.Sum256([]byte("hash"))}
	}
	o, _ := w.do(signIn("alice"), "", false)
	require.NotNil(t, o.Refusal, "the session id belongs to another sign-in")
	require.Equal(t, ledger.AlreadyExists, o.Refusal.Cause)
	for range 2 {
		o, _ = w.do(signIn("new"), "the same command", false)
		require.Nil(t, o.Refusal)
	}

	w.must(&ledger.SignOut{Session: sessionOf("unknown")})
	w.now = w.now.Add(ledger.DefaultSettings().SessionAbsolute)
	w.must(&ledger.SignOut{Session: sessionOf("new"), Everywhere: true})
	require.Zero(t, w.view().User("u-alice").SessionsRevokedBefore, "the sender's session had ended")
}
