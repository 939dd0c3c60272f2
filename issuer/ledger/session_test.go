package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestMaxSessions verifies that a new session ends the user's least recently used one, and
// none of another user.
func TestMaxSessions(t *testing.T) {
	w := newEnv(t)
	run := func(line string) { require.Equal(t, "ok", w.run(line), line) }
	run("user alice")
	run("user bob")
	run("sign-in bob")
	in := func(session string) bool {
		u, _ := w.view().SignedIn(sessionOf(session), w.at())
		return u != nil
	}
	count := func() int { return len(w.view().SessionsOf("u-alice", w.at(), 1000)) }
	for i := range ledger.MaxSessionsPerUser {
		run(fmt.Sprintf("sign-in alice session=s-%d", i))
		w.now = w.now.Add(time.Second)
	}
	require.Equal(t, ledger.MaxSessionsPerUser, count())
	w.now = w.now.Add(15 * time.Minute)
	run("touch s-0")
	run("sign-in alice session=new")
	require.True(t, in("s-0"), "the oldest session was used since")
	require.False(t, in("s-1"))
	require.True(t, in("s-2") && in("new") && in("bob"))
	require.Equal(t, ledger.MaxSessionsPerUser, count())

	run("sign-in alice session=newer replaces=s-2")
	require.False(t, in("s-2"), "a replaced session ends and makes room")
	require.True(t, in("s-3"))
	run("sign-in alice session=newest replaces=newer")
	require.True(t, in("s-3"), "the replaced session made room")
	require.Equal(t, ledger.MaxSessionsPerUser, count())
}

// TestSessionHandles verifies that only the handle of a session is parsed.
func TestSessionHandles(t *testing.T) {
	s := ledger.Session{ID: sessionOf("s")}
	id, ok := ledger.SessionOf(s.Handle())
	require.True(t, ok)
	require.Equal(t, s.ID, id)
	for _, handle := range []string{"", "00", s.Handle()[:62], s.Handle() + "00", s.Handle()[:63] + "g", s.Handle() + "0", "xx" + s.Handle()[2:]} {
		_, ok := ledger.SessionOf(handle)
		require.False(t, ok, handle)
	}
}

// TestAgents verifies that a session records the beginning of a long user agent, cut at a
// whole character.
func TestAgents(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	for said, want := range map[string]string{
		strings.Repeat("a", 200): strings.Repeat("a", 200), strings.Repeat("a", 201): strings.Repeat("a", 200),
		strings.Repeat("a", 199) + "ä": strings.Repeat("a", 199), "": "",
	} {
		w.must(&ledger.SignIn{Session: sessionOf(said), User: "u-alice", VerifiedHash: sha256.Sum256([]byte("hash")), Agent: said})
		require.Equal(t, want, w.view().Session(sessionOf(said)).Agent)
	}
}
