package security_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/security"
)

type testRecorder struct {
	*security.Recorder
	log     bytes.Buffer
	now     time.Time
	counted int
}

func newTestRecorder() *testRecorder {
	b := &testRecorder{now: time.Unix(1_800_000_000, 0)}
	b.Recorder = security.New(security.Config{
		Log: slog.New(slog.NewJSONHandler(&b.log, nil)), Now: func() time.Time { return b.now },
		Count: func(security.Kind, ledger.Cause) { b.counted++ },
	})
	return b
}

type line struct {
	Message  string         `json:"msg"`
	Security map[string]any `json:"security"`
}

// lines returns the lines written since the last call.
func (b *testRecorder) lines(t *testing.T) (all []line) {
	t.Helper()
	for _, text := range bytes.Split(bytes.TrimSpace(b.log.Bytes()), []byte("\n")) {
		if len(text) > 0 {
			var l line
			require.NoError(t, json.Unmarshal(text, &l))
			all = append(all, l)
		}
	}
	b.log.Reset()
	return all
}

// TestLinesAreBounded verifies that a source with a thousand failures causes one line at
// once, and one with the number of the others.
func TestLinesAreBounded(t *testing.T) {
	b := newTestRecorder()
	f := security.Failure{
		Kind: security.SignIn, Cause: ledger.PasswordWrong, Address: "2001:db8::1", User: "u-alice", Name: "alice", Request: "r1",
	}
	for i := range 1000 {
		f.Address, f.Request = fmt.Sprintf("2001:db8::%x", i+1), fmt.Sprint("r", i+1)
		b.Record(f)
	}
	require.Equal(t, []line{{"sign-in failed", map[string]any{
		"kind": "sign_in", "cause": "password_wrong", "address": "2001:db8::1", "user": "u-alice", "name": "alice", "request_id": "r1",
	}}}, b.lines(t))
	other := f
	other.Address = "192.0.2.1"
	b.Record(other)
	require.Len(t, b.lines(t), 1, "another source must have its own line")

	b.now = b.now.Add(time.Minute)
	b.Record(f)
	got := b.lines(t)
	require.Len(t, got, 2)
	require.EqualValues(t, 999, got[0].Security["repeated"])
	require.Equal(t, "2001:db8::3e8", got[0].Security["address"], "the address must be that of the last failure")
	require.NotContains(t, got[1].Security, "repeated")
	require.Equal(t, 1002, b.counted, "every failure must be counted")
}

// TestSourcesAreBounded verifies that many sources cause a bounded number of lines, and
// that all their failures are counted.
func TestSourcesAreBounded(t *testing.T) {
	b := newTestRecorder()
	const sources = 5000
	f := security.Failure{Kind: security.Client, Cause: ledger.SecretWrong, Client: "cal-app"}
	for i := range sources {
		f.Address = fmt.Sprintf("10.0.%d.%d", i/250, i%250)
		b.Record(f)
	}
	require.Len(t, b.lines(t), 1001, "one line for each network, and one for the account")
	b.now = b.now.Add(time.Minute)
	b.Record(security.Failure{Kind: security.Client, Cause: ledger.SecretWrong, Address: "10.9.9.9"})
	got := b.lines(t)
	require.Len(t, got, 2)
	require.EqualValues(t, sources-1001, got[0].Security["repeated"])
	require.Equal(t, "cal-app", got[0].Security["client"])
	require.NotContains(t, got[0].Security, "address", "the failures come from several addresses")
	counts := b.Drain()
	require.EqualValues(t, sources+1, counts.Authentications)
	require.Equal(t, map[string]int64{"cal-app": sources}, counts.Clients)
}

// TestFloodHidesNoAccount verifies that failures from very many networks use up no line of
// another account, kind or cause.
func TestFloodHidesNoAccount(t *testing.T) {
	wrong := security.Failure{Kind: security.SignIn, Cause: ledger.PasswordWrong, User: "u-alice", Name: "alice", Address: "192.0.2.1"}
	flood := func(b *testRecorder, address func(i int) string) {
		for i := range 1500 {
			b.Record(security.Failure{Kind: security.SignIn, Cause: ledger.NoSuchUser, Address: address(i)})
			b.Record(security.Failure{Kind: security.SignIn, Cause: ledger.PasswordWrong, User: "u-mallory", Address: address(i)})
			b.Record(security.Failure{Kind: security.Client, Cause: ledger.SecretWrong, Client: "mallorys-app", Address: address(i)})
		}
	}
	for name, address := range map[string]func(i int) string{
		"IPv4":           func(i int) string { return fmt.Sprintf("10.0.%d.%d", i/250, i%250) },
		"IPv6, sites":    func(i int) string { return fmt.Sprintf("2001:db8:%x::1", i) },
		"IPv6, one site": func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newTestRecorder()
			flood(b, address)
			flooded := len(b.lines(t))
			if name == "IPv6, one site" {
				require.Equal(t, 3, flooded, "one subscriber caused too many lines")
			} else {
				require.Equal(t, 2003, flooded)
			}
			for _, f := range []security.Failure{
				wrong,
				{Kind: security.SignIn, Cause: ledger.PasswordWrong, User: "u-bob", Address: "192.0.2.1"},
				{Kind: security.SignIn, Cause: ledger.Throttled, User: "u-alice", Address: "192.0.2.1"},
				{Kind: security.Client, Cause: ledger.SecretWrong, Client: "cal-app", Address: "192.0.2.1"},
				{Kind: security.Reader, Cause: ledger.SecretWrong, Address: "192.0.2.1"},
			} {
				b.Record(f)
				require.Len(t, b.lines(t), 1, "%+v", f)
			}
			b.Record(wrong)
			require.Empty(t, b.lines(t))
			b.now = b.now.Add(time.Minute)
			b.Record(security.Failure{Kind: security.Reader, Cause: ledger.SecretWrong})
			repeated := map[any]any{}
			for _, l := range b.lines(t) {
				repeated[l.Security["user"]] = l.Security["repeated"]
				if l.Security["user"] == "u-alice" && name != "IPv6, one site" {
					require.NotContains(t, l.Security, "address", "the failures come from several addresses")
				}
			}
			require.EqualValues(t, 1, repeated["u-alice"], "the second failure of the window")
		})
	}
}

// TestLinesOfAccountsAreBounded covers guessing at very many existing accounts.
func TestLinesOfAccountsAreBounded(t *testing.T) {
	b := newTestRecorder()
	const accounts = 12_000
	for i := range accounts {
		b.Record(security.Failure{Kind: security.SignIn, Cause: ledger.PasswordWrong, User: fmt.Sprint("u-", i), Address: "192.0.2.1"})
	}
	require.Len(t, b.lines(t), 11_000)
	b.now = b.now.Add(time.Minute)
	b.Record(security.Failure{Kind: security.Reader, Cause: ledger.SecretWrong})
	got := b.lines(t)
	require.Len(t, got, 2)
	require.EqualValues(t, 1000, got[0].Security["failures"])
}

// TestCountsAreGivenBack verifies that counts that could not be reported are added to the
// later ones.
func TestCountsAreGivenBack(t *testing.T) {
	b := newTestRecorder()
	fail := func(user string) {
		b.Record(security.Failure{Kind: security.SignIn, Cause: ledger.PasswordWrong, User: user})
	}
	fail("u-alice")
	fail("")
	taken := b.Drain()
	require.Equal(t, ledger.FailureCounts{SignIns: 2, Users: map[string]int64{"u-alice": 1}}, taken)
	require.Zero(t, b.Drain().SignIns)
	fail("u-alice")
	b.AddBack(taken)
	got := b.Drain()
	require.EqualValues(t, 3, got.SignIns)
	require.Equal(t, map[string]int64{"u-alice": 2}, got.Users)
}

// TestAccountsAreBounded verifies that failures at very many accounts use bounded memory.
func TestAccountsAreBounded(t *testing.T) {
	b := newTestRecorder()
	const accounts = 12_000
	for i := range accounts {
		b.Record(security.Failure{Kind: security.SignIn, Cause: ledger.PasswordWrong, User: fmt.Sprint("u-", i)})
	}
	got := b.Drain()
	require.EqualValues(t, accounts, got.SignIns)
	require.Len(t, got.Users, 10_000)
}
