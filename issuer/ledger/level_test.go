package ledger_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestEveryKindHasALevel: a kind that level 1 did not have must not be sent to a
// node of level 1, which would stop. The list is of that program, and never
// changes.
func TestEveryKindHasALevel(t *testing.T) {
	known := func(k ledger.Kind) bool {
		return k <= ledger.KindBeginRestore || k == ledger.KindReseal || k == ledger.KindForgetNode
	}
	for _, k := range slices.Sorted(maps.Keys(ledger.Commands())) {
		require.LessOrEqual(t, k.Level(), uint32(ledger.Level), "kind %d", k)
		if !known(k) {
			require.Greater(t, k.Level(), uint32(1), "kind %d was appended: give it a level", k)
		}
	}
	require.Equal(t, uint32(2), ledger.KindReplay.Level())
}

// TestOldRuleOfEdits: while a node of level 1 is in the cluster, an edit does
// what that node will do, or the states of the two would differ.
func TestOldRuleOfEdits(t *testing.T) {
	for level, kept := range map[uint32][]string{
		0: {}, 1: {},
		2: {"https://app.example/callback"},
	} {
		c := &ledger.Client{Profile: ledger.Profile{
			RedirectURIs: []string{"https://app.example/callback"}, Scopes: []string{"PROFILE_READ"},
		}}
		c.NarrowTo(ledger.Profile{RedirectURIs: []string{"https://elsewhere.example/callback"}, Scopes: []string{"PROFILE_READ"}}, ledger.Meta{Level: level})
		require.Equal(t, kept, append([]string{}, c.RedirectURIs...), "level %d", level)
		require.Equal(t, []string{"PROFILE_READ"}, c.Scopes)
	}
}

// TestOldRulesOfThePages: while a node of level 2 is in the cluster, commands that
// it knows do what it does.
func TestOldRulesOfThePages(t *testing.T) {
	w := newWorld(t)
	for _, line := range []string{
		"user bob admin", "sign-in bob", "create cal by=bob scopes=PROFILE_READ", "create crm by=bob scopes=PROFILE_READ",
		"review crm by=bob verdict=approve",
	} {
		require.Equal(t, "ok", w.run(line), line)
	}
	decide := func(level uint32, line string) ledger.Decision {
		return w.command(parseLine(line)).Decide(w.view(), ledger.Meta{Seq: w.seq + 1, At: w.at(), Level: level, ID: id16("another")})
	}
	t.Run("an administrator and themselves", func(t *testing.T) {
		for _, to := range []string{"demote", "disable", "delete"} {
			require.Nil(t, decide(2, "user-state bob by=bob to="+to).Outcome.Refusal, to)
			require.Equal(t, ledger.OwnAccount, decide(3, "user-state bob by=bob to="+to).Outcome.Refusal.Cause, to)
		}
	})
	t.Run("many sessions", func(t *testing.T) {
		for i := range ledger.MaxSessionsOf - 1 {
			require.Equal(t, "ok", w.run("sign-in bob session=more-"+strconv.Itoa(i)))
		}
		require.Zero(t, ended(decide(2, "sign-in bob session=one-more")))
		require.Equal(t, 1, ended(decide(3, "sign-in bob session=one-more")))
	})
	t.Run("a deletion's revision", func(t *testing.T) {
		require.Nil(t, decide(2, "delete cal by=bob revision=7").Outcome.Refusal)
		require.Equal(t, ledger.Moved, decide(3, "delete cal by=bob revision=7").Outcome.Refusal.Cause)
	})
	t.Run("a review's reason", func(t *testing.T) {
		const line = `review cal by=bob verdict=reject reason="too wide"`
		require.Equal(t, "reject", eventOf(t, decide(2, line)).Detail)
		e := eventOf(t, decide(3, line))
		verdict, reason := e.Review()
		require.Equal(t, []string{"reject", "too wide"}, []string{string(verdict), reason})
	})
	t.Run("since when a client waits", func(t *testing.T) {
		for _, line := range []string{
			"create pad by=bob scopes=PROFILE_READ", "edit crm by=bob name=Other",
			"import pad owner=bob scopes=PROFILE_READ state=pending",
		} {
			require.Zero(t, clientOf(t, decide(2, line)).Waiting, line)
			require.Equal(t, w.at(), clientOf(t, decide(3, line)).Waiting, line)
		}
	})
	t.Run("what a review turned down", func(t *testing.T) {
		require.Equal(t, "ok", w.run("edit crm by=bob name=Other"))
		const line = "review crm by=bob verdict=reject reason=no"
		require.Nil(t, clientOf(t, decide(2, line)).Refused)
		require.Equal(t, "Other", clientOf(t, decide(3, line)).Refused.Profile.Name)
	})
	t.Run("what nobody sees, and where no browser goes", func(t *testing.T) {
		for field, line := range map[string]string{
			"name":             "create pad by=bob scopes=PROFILE_READ name=\u3164",
			"redirect_uris[0]": "create pad by=bob scopes=PROFILE_READ uris=https://x.example'/cb",
			"reason":           "review crm by=bob verdict=suspend reason=\u2800",
		} {
			require.Nil(t, decide(2, line).Outcome.Refusal, line)
			require.Equal(t, field, decide(3, line).Outcome.Refusal.Field, line)
		}
	})
	t.Run("a name that is taken for somebody else's", func(t *testing.T) {
		for _, line := range []string{"user u-bob", "user operator", "user u_0123456789abcdefghijkl"} {
			require.Nil(t, decide(2, line).Outcome.Refusal, line)
			require.Equal(t, "username", decide(3, line).Outcome.Refusal.Field, line)
		}
	})
	t.Run("the reason of a suspension", func(t *testing.T) {
		for _, line := range []string{"review crm by=bob verdict=suspend reason=spam", "edit crm by=bob name=Another"} {
			require.Equal(t, "ok", w.run(line), line)
		}
		const line = "review crm by=bob verdict=reject reason=no"
		require.Equal(t, "no", clientOf(t, decide(2, line)).Reason)
		require.Equal(t, "spam", clientOf(t, decide(3, line)).Reason)
	})
	t.Run("what an edit proposes", func(t *testing.T) {
		const line = "edit crm by=bob name=Elsewhere uris=https://app.example/3 scopes=BOOKING_READ,PROFILE_READ"
		require.Equal(t, "PROFILE_READ", eventOf(t, decide(2, line)).Detail)
		require.Equal(t, "name, redirection URIs, scopes; scopes BOOKING_READ PROFILE_READ", eventOf(t, decide(3, line)).Detail)
	})
	t.Run("a retry of each generation", func(t *testing.T) {
		for _, line := range []string{
			"import pen owner=bob secrets=s1 scopes=PROFILE_READ", "allow bob client=pen scope=PROFILE_READ grant=g",
			"exchange client=pen secret=s1 grant=g", "refresh client=pen secret=s1 grant=g gen=1", "refresh client=pen secret=s1 grant=g gen=1",
			"refresh client=pen secret=s1 grant=g gen=2",
		} {
			w.run(line)
		}
		const line = "refresh client=pen secret=s1 grant=g gen=2"
		require.Equal(t, ledger.EventRetried, eventOf(t, decide(2, line)).Kind)
		for _, c := range decide(3, line).Changes {
			require.NotEqual(t, ledger.TableAudit, c.Table)
		}
	})
	t.Run("effects", func(t *testing.T) {
		w.must(&ledger.BeginRestore{})
		c := &ledger.Replay{Records: []ledger.Record{{Seq: 1, At: 1, Effects: []ledger.Effect{{Kind: ledger.EffectClientMoved, Client: "cal", User: "u-eve"}}}}}
		m := ledger.Meta{Seq: w.seq + 1, At: w.at(), Level: 2}
		require.Equal(t, ledger.BadField, c.Decide(w.view(), m).Outcome.Refusal.Cause)
		m.Level = 3
		require.Equal(t, "u-eve", clientOf(t, c.Decide(w.view(), m)).Owner)

		c.Records[0].Effects[0] = ledger.Effect{Kind: ledger.EffectUserDisabled, User: "u-eve", Identity: make([]byte, 32)}
		m.Level = 2
		require.Nil(t, userOf(c.Decide(w.view(), m)))
		m.Level = 3
		require.True(t, userOf(c.Decide(w.view(), m)).Disabled)
	})
	t.Run("a journal that an older program reads", func(t *testing.T) {
		w.run("user carol")
		c := w.command(parseLine("import cal owner=carol scopes=PROFILE_READ uris=https://app.example/2"))
		kinds := func(level uint32) (all []ledger.EffectKind) {
			m := ledger.Meta{Seq: w.seq + 1, At: w.at(), Level: level}
			for _, e := range ledger.Journal(w.view(), c, c.Decide(w.view(), m), m).Effects {
				all = append(all, e.Kind)
			}
			return all
		}
		require.NotContains(t, kinds(2), ledger.EffectClientMoved)
		require.Contains(t, kinds(3), ledger.EffectClientMoved)
		require.Len(t, kinds(3), len(kinds(2))+1)
	})
}

func eventOf(t *testing.T, d ledger.Decision) *ledger.Event {
	require.Nil(t, d.Outcome.Refusal)
	for _, c := range d.Changes {
		if e, ok := c.Row.(*ledger.Event); ok {
			return e
		}
	}
	t.Fatal("no event")
	return nil
}

func ended(d ledger.Decision) (sessions int) {
	for _, c := range d.Changes {
		if _, ok := c.Row.(*ledger.Session); ok && c.Delete {
			sessions++
		}
	}
	return sessions
}

func clientOf(t *testing.T, d ledger.Decision) *ledger.Client {
	require.Nil(t, d.Outcome.Refusal)
	for _, c := range d.Changes {
		if row, ok := c.Row.(*ledger.Client); ok {
			return row
		}
	}
	t.Fatal("no client")
	return nil
}

func userOf(d ledger.Decision) *ledger.User {
	for _, c := range d.Changes {
		if row, ok := c.Row.(*ledger.User); ok {
			return row
		}
	}
	return nil
}
