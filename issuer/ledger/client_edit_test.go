package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestEdits verifies what an owner's edit does to a client in each state, and its event.
func TestEdits(t *testing.T) {
	for name, test := range map[string]struct {
		lines   []string
		edit    string
		changes bool
		kind    ledger.EventKind
		detail  string
		check   func(*ledger.Client) bool
	}{
		"pending":           {nil, "name=New", true, ledger.EventClientEdited, "name; scopes PROFILE_READ", func(c *ledger.Client) bool { return c.Name == "New" && c.State == ledger.Pending }},
		"pending, the same": {nil, "", false, "", "", nil},
		"rejected, the same": {
			[]string{"review app verdict=reject reason=no"},
			"", true, ledger.EventClientEdited, "submitted again; scopes PROFILE_READ",
			func(c *ledger.Client) bool { return c.State == ledger.Pending && c.Reason == "" },
		},
		"approved": {
			[]string{"review app verdict=approve"},
			"name=New", true, ledger.EventClientProposed, "name; scopes PROFILE_READ",
			func(c *ledger.Client) bool { return c.Name != "New" && c.Proposed.Name == "New" },
		},
		"approved, the same": {[]string{"review app verdict=approve"}, "", false, "", "", nil},
		"proposed again":     {[]string{"review app verdict=approve", "edit app by=alice name=New"}, "name=New", false, "", "", nil},
		"proposed otherwise": {
			[]string{"review app verdict=approve", "edit app by=alice name=New"},
			"name=Other", true, ledger.EventClientProposed, "name; scopes PROFILE_READ",
			func(c *ledger.Client) bool { return c.Proposed.Name == "Other" },
		},
		"withdrawn": {
			[]string{"review app verdict=approve", "edit app by=alice name=New"},
			`name="An Application"`, true, ledger.EventClientEdited, "proposal withdrawn; scopes PROFILE_READ",
			func(c *ledger.Client) bool { return c.Proposed == nil },
		},
		"refused, the same": {
			[]string{"review app verdict=approve", "edit app by=alice name=New", "review app verdict=reject reason=no"},
			"", true, ledger.EventClientEdited, "refused changes discarded; scopes PROFILE_READ",
			func(c *ledger.Client) bool { return c.Refused == nil && c.Reason == "" },
		},
		"suspended after a refusal": {
			[]string{"review app verdict=approve", "edit app by=alice name=New", "review app verdict=reject reason=no", "review app verdict=suspend reason=spam"},
			"", true,
			ledger.EventClientEdited, "refused changes discarded; scopes PROFILE_READ", func(c *ledger.Client) bool { return c.Refused == nil && c.Reason == "spam" },
		},
		"approved for a reason": {
			[]string{"edit app by=alice uris=https://a.example/,https://b.example/", "review app verdict=approve reason=fine"},
			"uris=https://a.example/", true,
			ledger.EventClientEdited, "redirect URIs; scopes PROFILE_READ", func(c *ledger.Client) bool { return c.Proposed == nil && c.Reason == "fine" },
		},
		"legacy, a name": {
			[]string{"import app owner=alice legacy scopes="},
			"name=New", true, ledger.EventClientProposed, "name; scopes (none)",
			func(c *ledger.Client) bool { return c.Legacy && c.Proposed.Name == "New" },
		},
		"legacy, scopes": {
			[]string{"import app owner=alice legacy scopes="},
			"scopes=PROFILE_READ", true, ledger.EventScopesSelected, "PROFILE_READ",
			func(c *ledger.Client) bool { return !c.Legacy && c.Proposed == nil },
		},
		"legacy, both": {
			[]string{"import app owner=alice legacy scopes="},
			"scopes=PROFILE_READ name=New", true, ledger.EventScopesSelected, "PROFILE_READ",
			func(c *ledger.Client) bool { return !c.Legacy && c.Proposed.Name == "New" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			lines := append([]string{"user alice", "sign-in alice", "create app by=alice scopes=PROFILE_READ"}, test.lines...)
			if len(test.lines) == 1 && test.lines[0] == "import app owner=alice legacy scopes=" {
				lines = append([]string{"user alice", "sign-in alice"}, test.lines...)
			}
			for _, line := range lines {
				require.Equal(t, "ok", w.run(line), line)
			}
			before := *w.view().Client("app")
			want := "ok"
			if !test.changes {
				want = "ok; nothing changed"
			}
			require.Equal(t, want, w.run("edit app by=alice "+test.edit))
			c := w.view().Client("app")
			if !test.changes {
				require.Equal(t, before, *c)
				return
			}
			require.True(t, test.check(c))
			require.Equal(t, before.Revision+1, c.Revision)
			e := w.view().LastEvent()
			require.Equal(t, test.kind, e.Kind)
			require.Equal(t, test.detail, e.Detail)
		})
	}
}

// TestOffers verifies the list of the clients that are offered to a user.
func TestOffers(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{
		"user alice", "user bob", "user carol", "create a owner=alice scopes=PROFILE_READ", "create b owner=alice scopes=PROFILE_READ",
		"create c owner=alice scopes=PROFILE_READ", "create d owner=carol scopes=PROFILE_READ", "create e owner=alice scopes=PROFILE_READ",
		"offer a to=bob", "offer b to=carol", "offer c to=bob", "offer d to=bob",
	} {
		require.Equal(t, "ok", w.run(line), line)
	}
	offered := func(user string, limit int) []string {
		return ids(pages(t, limit, func(after string) ([]*ledger.Client, string) {
			return w.view().OfferedTo(ledger.OfferQuery{User: "u-" + user, After: after, Limit: limit})
		}), idOfClient)
	}
	for limit := 1; limit < 5; limit++ {
		require.Equal(t, []string{"a", "c", "d"}, offered("bob", limit))
		require.Equal(t, []string{"b"}, offered("carol", limit))
		require.Empty(t, offered("alice", limit))
	}
	back, _ := w.view().OfferedTo(ledger.OfferQuery{User: "u-bob", After: "d", Back: true, Limit: 5})
	require.Equal(t, []string{"a", "c"}, ids(back, idOfClient))
	require.Equal(t, "ok", w.run("user-state carol to=disable"))
	require.Equal(t, []string{"a", "c"}, offered("bob", 5), "the owner of d is disabled")
	w.must(&ledger.BeginRestore{})
	require.Empty(t, offered("bob", 5), "they may have been withdrawn after the backup")
}
