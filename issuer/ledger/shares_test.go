package ledger_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// mostEvents is the limit in these tests; that of the ledger is 100,000.
const mostEvents = 3000

// A trailEnv is an audit trail in a state that otherwise has only users.
type trailEnv struct {
	t      *testing.T
	events []*ledger.Event
	users  []*ledger.User
	shares ledger.Shares
	gone   map[uint64]bool
}

func (w *trailEnv) add(actor string, n int, kind ledger.EventKind) {
	for range n {
		seq := uint64(len(w.events) + 1)
		w.events = append(w.events, &ledger.Event{Seq: seq, At: ledger.Time(seq), Kind: kind, Actor: actor, User: actor, Client: "app"})
	}
}

func (w *trailEnv) view(logged uint64) ledger.View {
	return viewOf(w.t, tableOf(ledger.TableAudit, w.events), tableOf(ledger.TableUsers, w.users),
		tableOf(ledger.TableTrail, []*ledger.Trail{{ID: "trail", Logged: logged}}))
}

// trim removes the surplus as the leader does, and returns how many events of each actor
// remain.
func (w *trailEnv) trim(keep ledger.Time) map[string]int {
	v := w.view(math.MaxUint64)
	w.shares.Limit = mostEvents
	w.shares.Update(v)
	w.gone = map[uint64]bool{}
	for {
		seqs := w.shares.Surplus(v, keep, 100)
		if len(seqs) == 0 {
			break
		}
		for _, seq := range seqs {
			require.False(w.t, w.gone[seq])
			w.gone[seq] = true
		}
		w.shares.Drop(seqs)
	}
	left := map[string]int{}
	for _, e := range w.events {
		if !w.gone[e.Seq] {
			left[e.Actor]++
		}
	}
	return left
}

// TestManyAccountsTogetherWashNothingOut verifies that the events of an administrator, an
// operator, a user and an application stay, however many accounts flood the trail, and that
// the flooding accounts lose their oldest events first.
func TestManyAccountsTogetherWashNothingOut(t *testing.T) {
	w := &trailEnv{t: t, users: []*ledger.User{{ID: "victim", Username: "victim"}, {ID: "boss", Username: "boss", Admin: true}}}
	w.add("boss", 600, ledger.EventSignedIn)
	w.add(ledger.Operator, 150, ledger.EventUserPut)
	w.add("victim", 40, ledger.EventSignedIn)
	w.add("quiet-app", 40, ledger.EventExchanged)
	const accounts = 40
	for i := range accounts {
		id := fmt.Sprint("washer-", i)
		w.users = append(w.users, &ledger.User{ID: id, Username: id})
		w.add(id, 381, ledger.EventSignedIn)
	}
	w.add("busy-app", 300, ledger.EventExchanged)
	left := w.trim(math.MaxInt64)
	require.Equal(t, 600, left["boss"])
	require.Equal(t, 150, left[ledger.Operator])
	require.Equal(t, 40, left["victim"], "old events of an actor with few events were removed")
	require.Equal(t, 40, left["quiet-app"])
	require.Equal(t, 300, left["busy-app"])
	total := 0
	for i := range accounts {
		n := left[fmt.Sprint("washer-", i)]
		require.InDelta(t, 46, n, 1, "removals are not shared equally")
		total += n
	}
	require.Equal(t, mostEvents-1130, total)
	stays := false
	for _, e := range w.events {
		if e.Actor == "washer-7" {
			require.False(t, stays && w.gone[e.Seq], "a newer event was removed before an older one")
			stays = stays || !w.gone[e.Seq]
		}
	}

	// New events are counted without reading the trail again.
	w.shares.Update(w.view(math.MaxUint64))
	w.add("washer-0", 10, ledger.EventSignedIn)
	w.shares.Update(w.view(math.MaxUint64))
	seqs := w.shares.Surplus(w.view(math.MaxUint64), math.MaxInt64, 255)
	require.Len(t, seqs, 10)
	for _, seq := range seqs {
		require.Equal(t, "washer-0", w.events[seq-1].Actor)
	}
}

// TestAdministratorsDoNotPushOutUsers verifies that each class has its share.
func TestAdministratorsDoNotPushOutUsers(t *testing.T) {
	w := &trailEnv{t: t, users: []*ledger.User{{ID: "boss", Admin: true}}}
	for i := range 100 {
		w.users = append(w.users, &ledger.User{ID: fmt.Sprint("u-", i)})
		w.add(fmt.Sprint("u-", i), 9, ledger.EventSignedIn)
	}
	w.add("boss", 2000, ledger.EventUserEdited)
	for i := range 1500 {
		w.add(fmt.Sprint("operator-script-", i%3), 1, ledger.EventExchanged)
	}
	left := w.trim(math.MaxInt64)
	for i := range 100 {
		require.Equal(t, 9, left[fmt.Sprint("u-", i)])
	}
	require.GreaterOrEqual(t, left["boss"], mostEvents/3)
}

// TestRevocationsStay verifies that revocations stay as long as readers of the feed need
// them. If there are too many, the trail records since when it has all.
func TestRevocationsStay(t *testing.T) {
	w := &trailEnv{t: t, users: []*ledger.User{{ID: "u"}}}
	w.add("u", 100, ledger.EventDisconnected)
	w.add("u", mostEvents, ledger.EventSignedIn)
	w.trim(1)
	for seq := range w.gone {
		require.Equal(t, ledger.EventSignedIn, w.events[seq-1].Kind)
	}
	require.Len(t, w.gone, 100)

	w = &trailEnv{t: t, users: []*ledger.User{{ID: "u"}}}
	w.add("u", 4*mostEvents+10, ledger.EventDisconnected)
	w.trim(1)
	require.Len(t, w.gone, 10, "the trail is limited to four times its size")

	// Events that are not logged yet stay.
	w = &trailEnv{t: t, users: []*ledger.User{{ID: "u"}}}
	w.add("u", mostEvents+100, ledger.EventSignedIn)
	w.shares.Limit = mostEvents
	w.shares.Update(w.view(40))
	require.Len(t, w.shares.Surplus(w.view(40), math.MaxInt64, 255), 40)
}

// TestSweepOfEvents verifies that one command removes a bounded number of rows, none that is
// not logged, and records which revocations are lost.
func TestSweepOfEvents(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "sign-in alice", "import app owner=alice scopes=PROFILE_READ", "user-state alice to=disable",
	} {
		require.Equal(t, "ok", w.run(line), line)
	}
	for i := range 300 {
		require.Equal(t, "ok", w.run(fmt.Sprintf("user x%d", i)))
	}
	var seqs []uint64
	var disabled *ledger.Event
	for e := range w.view().Events() {
		seqs = append(seqs, e.Seq, e.Seq)
		if e.Kind == ledger.EventUserState {
			disabled = e
		}
	}
	require.NotNil(t, disabled)
	sweep := func() ledger.Outcome {
		o, _ := w.do(&ledger.Sweep{Events: seqs}, "", false)
		return o
	}
	require.Zero(t, sweep().Count, "no event is logged")
	require.Zero(t, w.view().TrailCompleteFrom(0))
	w.must(&ledger.MarkLogged{Seq: seqs[len(seqs)-1]})
	w.must(&ledger.MarkLogged{Seq: 1})
	require.Equal(t, 256, sweep().Count, "255 events and the row of the trail")
	require.Nil(t, w.view().Event(disabled.Seq))
	assert.Equal(t, disabled.At+1, w.view().TrailCompleteFrom(disabled.At))
	assert.Zero(t, w.view().TrailCompleteFrom(disabled.At+1), "the trail has all later revocations")
	assert.Equal(t, disabled.At+1, w.view().TrailCompleteAfter(disabled.Seq-1, 0))
	assert.Zero(t, w.view().TrailCompleteAfter(disabled.Seq, 0), "the removed event had been read")
	sweep()
	require.Nil(t, w.view().LastEvent())
}

// TestSharesOfFew verifies which events are removed first: those of the class with the most
// events above its share, of the actor with the most of them, in the order of names.
func TestSharesOfFew(t *testing.T) {
	users := []*ledger.User{{ID: "a"}, {ID: "b"}, {ID: "boss", Admin: true}}
	type events struct {
		actor string
		n     int
	}
	for name, test := range map[string]struct {
		events []events
		want   string // actors of the removed events, in order
	}{
		"an operator is no application":  {[]events{{ledger.Operator, 12}, {"app-1", 8}, {"app-2", 8}, {"app-3", 4}}, "app-1 app-2"},
		"nor is one with a token":        {[]events{{"token:ci", 12}, {"app-1", 8}, {"app-2", 8}, {"app-3", 4}}, "app-1 app-2"},
		"nor one with a certificate":     {[]events{{"certificate:ci", 12}, {"app-1", 8}, {"app-2", 8}, {"app-3", 4}}, "app-1 app-2"},
		"the fullest class":              {[]events{{"boss", 18}, {"a", 14}}, "boss boss"},
		"the fullest class, other order": {[]events{{"boss", 14}, {"a", 18}}, "a a"},
		"two of a class in turn":         {[]events{{"a", 17}, {"b", 17}}, "a b a b"},
		"no surplus":                     {[]events{{"a", 30}}, ""},
	} {
		w := &trailEnv{t: t, users: users}
		for _, e := range test.events {
			w.add(e.actor, e.n, ledger.EventSignedIn)
		}
		w.shares.Limit = 30
		v := w.view(math.MaxUint64)
		w.shares.Update(v)
		var actors []string
		for _, seq := range w.shares.Surplus(v, math.MaxInt64, 255) {
			actors = append(actors, v.Event(seq).Actor)
		}
		require.Equal(t, test.want, strings.Join(actors, " "), name)
	}

	// A class within its share loses nothing, although the other has nothing to remove.
	w := &trailEnv{t: t, users: users}
	w.add("a", 8, ledger.EventSignedIn)
	w.add("boss", 25, ledger.EventSignedIn)
	w.shares.Limit = 30
	w.shares.Update(w.view(8))
	require.Empty(t, w.shares.Surplus(w.view(8), math.MaxInt64, 255))

	// Revocations that no reader needs any more are removed, and removed events skipped.
	w = &trailEnv{t: t, users: users}
	w.add("a", 33, ledger.EventDisconnected)
	w.shares.Limit = 30
	w.shares.Update(w.view(math.MaxUint64))
	require.Equal(t, []uint64{1, 2}, w.shares.Surplus(w.view(math.MaxUint64), 3, 255))
	w.events = w.events[1:]
	require.Equal(t, []uint64{2, 3, 4}, w.shares.Surplus(w.view(math.MaxUint64), math.MaxInt64, 255))
}
