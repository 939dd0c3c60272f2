package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestPagesProperties performs random actions of the pages, in sessions that may end at any
// time, and verifies the invariants after each.
func TestPagesProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newEnv(t)
		for _, line := range []string{
			"user alice admin", "user bob admin", "user carol", "upstream 7 username=dave session=dave",
			"sign-in alice", "sign-in bob", "sign-in carol",
			"settings agents=reviewed", "put-publisher agent.example scopes=PROFILE_READ,BOOKING_READ defaults=PROFILE_READ",
			"put-publisher local scopes=PROFILE_READ uris=cursor://a/cb", "document https://agent.example/1 by=carol",
			"create cal by=carol scopes=PROFILE_READ", "create crm by=bob scopes=PROFILE_READ,BOOKING_READ logo=red",
		} {
			require.NotContains(r, w.run(line), "invalid")
		}
		for range rapid.IntRange(1, 50).Draw(r, "steps") {
			w.now = w.now.Add(time.Minute)
			line, by := w.randomAction(r)
			who, _ := w.view().SignedIn(sessionOf(by), w.at())
			before, sum := clientsOf(w.view()), w.memory.Checksum()
			agents := w.agents()
			said := w.run(line)
			redeems := strings.HasPrefix(line, "exchange ") || strings.HasPrefix(line, "refresh ") // a refusal may end the grant
			if !strings.HasPrefix(said, "ok") && !strings.HasPrefix(said, "issued") && !redeems {
				require.Equal(r, sum, w.memory.Checksum(), "%s was refused but changed the state: %s", line, said)
			}
			w.checkPeople(r)
			w.checkAgentGrants(r, agents, line, said == "ok")
			for _, was := range before {
				if was.Document != nil { // a client with a document has no owner
					continue
				}
				checkOwner(r, &was, w.view().Client(was.ID), who, line)
			}
		}
	})
}

func clientsOf(v ledger.View) (list []ledger.Client) {
	for c := range v.Clients() {
		list = append(list, *c)
	}
	return list
}

func sessionOf(name string) [32]byte { return sha256.Sum256([]byte("session " + name)) }

// randomAction returns a line, and the session that sends it.
func (w *env) randomAction(r *rapid.T) (line, by string) {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(r, label) }
	by = pick("by", "alice", "bob", "carol", "dave")
	client, user := pick("client", "cal", "crm"), pick("user", "alice", "bob", "carol", "7", "new")
	name := pick("name", "alice", "BOB", "carol", "dave", "new", "e\u0301\u0302\u0303\u0304\u0305", "f\ue000")
	host := pick("host", "agent.example", "agent.example", "other.example", "third.example", "local", "local")
	logo := pick("logo", "", " logo=red", " logo=blue", " logo=none", " logo=green picture=kept")
	switch pick("deed", "state", "state", "add", "person", "password", "feed", "feed", "offer", "accept", "decline", "transfer", "edit", "edit", "review", "delete",
		"end", "sign-in", "upstream", "sweep", "publisher", "apply", "end publisher", "end publisher", "end publisher", "document", "document", "agent", "agent", "agent", "refresh", "refresh", "later") {
	case "state":
		return "user-state " + user + " by=" + by + " to=" + pick("to", "promote", "demote", "enable", "disable", "delete"), by
	case "add":
		return "add-user new by=" + by + " username=" + name + pick("admin", "", " admin"), by
	case "person":
		return "person " + user + " by=" + by + " username=" + name, by
	case "password":
		return "password " + user + " by=" + by + " to=hash old=hash", by
	case "feed":
		return "set-feed " + by + " by=" + by + pick("feed address", "", " to=f1", " to=f2"), by
	case "offer":
		return "offer " + client + " by=" + by + " to=" + name, by
	case "accept":
		return "accept " + client + " by=" + by, by
	case "decline":
		return "decline " + client + " by=" + by, by
	case "transfer":
		return "transfer " + client + " by=" + by + " to=" + name, by
	case "edit":
		return "edit " + client + " by=" + by + " name=" + name + logo, by
	case "review":
		return "review " + client + " by=" + by + " reason=why verdict=" + pick("verdict", "approve", "reject", "suspend", "resume"), by
	case "delete":
		return "delete " + client + " by=" + by, by
	case "publisher":
		return "put-publisher " + host + " by=" + by + " scopes=" + pick("ceiling", "PROFILE_READ", "BOOKING_READ") + pick("defaults", "", " defaults=PROFILE_READ"), by
	case "apply":
		return "apply-publisher " + host + " scopes=" + pick("ceiling", "PROFILE_READ", "BOOKING_READ", "PROFILE_READ,BOOKING_READ") + pick("retry", "", " long-retry"), ""
	case "end publisher":
		return "end-publisher " + host + " by=" + pick("reviewer", by, "alice", "bob") + " how=" + pick("how", "revoke", "revoke", "reject", "remove"), by
	case "document":
		return "document https://" + pick("host", "agent.example", "other.example", "third.example") + "/" + pick("path", "1", "2", "3", "4") + " by=" + by + " name=" + name +
			" digest=" + pick("digest", "1", "2", "3") + " uris=" + pick("uris", "http://127.0.0.1/cb", "http://127.0.0.1/cb,http://localhost/cb", "http://localhost/cb"), by
	case "agent": // of a document, of a registration, and of one that names a host
		grant := " scope=" + pick("asked", "PROFILE_READ", "BOOKING_READ,PROFILE_READ,BOOKING_WRITE") + " verifier=v revision=1 grant=" + pick("grant", "g1", "g2", "g3", "g4", "g5", "g6")
		return "allow " + by + " client=" + pick("agent",
			"https://agent.example/1 uri=http://127.0.0.1/cb", "https://other.example/1 uri=http://127.0.0.1/cb",
			"mmd_a registered=http://127.0.0.1/cb uri=http://127.0.0.1/cb", "mmd_b registered=cursor://a/cb uri=cursor://a/cb",
			"mmd_c registered=https://agent.example/cb uri=https://agent.example/cb",
			"mmd_d registered=https://agent.example/cb,http://127.0.0.1/cb uri=http://127.0.0.1/cb") + grant, by
	case "refresh":
		grant := pick("grant", "g1", "g2", "g3", "g4", "g5", "g6")
		g := w.view().Grant(id16(grant))
		if g == nil {
			return "sweep", by
		}
		c := w.view().Client(g.Client)
		if c == nil {
			return "sweep", by
		}
		line := fmt.Sprintf(" client=%s grant=%s verifier=v uri=%s", c.ClientID(), grant, c.RedirectURIs[0])
		if g.Due == 0 {
			return "exchange" + line, by
		}
		return fmt.Sprintf("refresh%s gen=%d", line, max(1, int(g.Due)-rapid.IntRange(0, 2).Draw(r, "behind"))), by
	case "later":
		return "now +" + pick("time", "1h", "25h", "170h"), by
	case "end":
		return "end-session " + pick("session", "alice", "bob", "carol", "dave") + " by=" + by, by
	case "sign-in":
		return "sign-in " + user + " replaces=" + by + " session=" + by, by
	case "upstream":
		return "upstream " + pick("subject", "7", "8") + " username=" + name + " replaces=" + by + " session=" + pick("session", "dave", "erin"), by
	}
	return "sweep", by
}

// checkPeople verifies that there is an administrator, and that the indexes find everybody.
func (w *env) checkPeople(r *rapid.T) {
	v, admins := w.view(), 0
	for u := range v.Users() {
		if u.Admin && !u.Disabled && !u.Deleted {
			admins++
		}
		requireReadable(r, u.Username)
		requireReadable(r, u.Name)
		if u.Username != "" {
			require.Equal(r, u, v.UserByName(u.Username))
		}
		if u.Upstream != "" {
			require.Equal(r, u, v.UserBySubject(u.Upstream, u.Subject))
		}
		if u.FeedDigest != [32]byte{} {
			require.Equal(r, u, v.UserOfFeed(u.FeedDigest))
			require.False(r, u.Disabled || u.Deleted, "the feed of a user who is disabled or deleted")
		}
	}
	require.Nil(r, v.UserOfFeed([32]byte{}))
	for c := range v.Clients() {
		requireReadable(r, c.Name)
	}
	require.Positive(r, admins)
}

// An agentGrant is what is known of a grant for an agent before an action.
type agentGrant struct {
	ended bool
	scope string
}

// agents returns the grants for agents.
func (w *env) agents() map[ledger.GrantID]agentGrant {
	all := map[ledger.GrantID]agentGrant{}
	for g := range w.view().Grants() {
		if g.Agent {
			all[g.ID] = agentGrant{w.view().GrantEnded(g.ID) != ledger.NoCause, g.Scope}
		}
	}
	return all
}

// checkAgentGrants verifies that no grant for an agent that had ended is live again, that none has
// another scope, and that a new one is within the ceiling of its publisher, which is approved; and
// that the end of a publisher ends all of them.
func (w *env) checkAgentGrants(r *rapid.T, before map[ledger.GrantID]agentGrant, line string, done bool) {
	v := w.view()
	for g := range v.Grants() {
		was, known := before[g.ID]
		c := v.Client(g.Client)
		if !g.Agent || c == nil {
			continue
		}
		if known {
			require.Equal(r, was.scope, g.Scope, line)
			require.False(r, was.ended && v.GrantEnded(g.ID) == ledger.NoCause, "a grant is live again: %s", line)
		} else {
			p := v.PublisherOf(c)
			require.NotNil(r, p, line)
			require.Equal(r, ledger.PublisherApproved, p.State, line)
			require.Subset(r, p.Scopes, strings.Fields(g.Scope), line)
		}
		if done && strings.HasPrefix(line, "end-publisher "+c.Document.Host()+" ") {
			require.NotEqual(r, ledger.NoCause, v.GrantEnded(g.ID), line)
		}
	}
	for c := range v.Clients() {
		if c.Document == nil {
			continue
		}
		require.False(r, v.LikeService(c.Name), c.Name)
		remote := 0
		for _, uri := range c.RedirectURIs {
			if strings.HasPrefix(uri, "https:") {
				remote++
			}
		}
		if c.Document.Registered == ledger.LocalPublisher {
			require.Zero(r, remote, "a program has the URI of a host")
		} else if c.Document.Registered != "" {
			require.Len(r, c.RedirectURIs, remote, "a registered client of a host has a URI on the computer")
		}
	}
}

// requireReadable verifies that a text has no private-use character and no stack of accents,
// whatever its source.
func requireReadable(r *rapid.T, text string) {
	require.NotRegexp(r, `\p{Co}|[\p{Mn}\p{Me}]{5}`, text)
}

// checkOwner verifies that only permitted users transfer a client, and that others than its
// owner change nothing else of it.
func checkOwner(r *rapid.T, was, now *ledger.Client, who *ledger.User, line string) {
	switch {
	case was.Last == now.Last:
	case who == nil:
		require.Fail(r, "a client changed without an actor", line)
	case was.Owner != now.Owner:
		accepted := was.Offer != nil && was.Offer.To == who.ID && now.Owner == who.ID && strings.HasPrefix(line, "accept ")
		require.True(r, accepted || who.Admin && strings.HasPrefix(line, "transfer "), line)
		require.Nil(r, now.Offer)
		require.Greater(r, now.Revision, was.Revision)
	case who.ID == was.Owner, who.Admin:
	default:
		require.True(r, strings.HasPrefix(line, "decline ") && was.Offer.To == who.ID, line)
		require.Equal(r, was.Profile, now.Profile)
	}
}
