package ledger_test

import (
	"crypto/sha256"
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
			"create cal by=carol scopes=PROFILE_READ", "create crm by=bob scopes=PROFILE_READ,BOOKING_READ logo=red",
		} {
			require.NotContains(r, w.run(line), "invalid")
		}
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			w.now = w.now.Add(time.Minute)
			line, by := w.randomAction(r)
			who, _ := w.view().SignedIn(sessionOf(by), w.at())
			before, sum := clientsOf(w.view()), w.memory.Checksum()
			said := w.run(line)
			if !strings.HasPrefix(said, "ok") {
				require.Equal(r, sum, w.memory.Checksum(), "%s was refused but changed the state: %s", line, said)
			}
			w.checkPeople(r)
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
	logo := pick("logo", "", " logo=red", " logo=blue", " logo=none", " logo=green picture=kept")
	switch pick("deed", "state", "state", "add", "person", "password", "offer", "accept", "decline", "transfer", "edit", "edit", "review", "delete",
		"end", "sign-in", "upstream", "sweep", "publisher", "document", "document", "later") {
	case "state":
		return "user-state " + user + " by=" + by + " to=" + pick("to", "promote", "demote", "enable", "disable", "delete"), by
	case "add":
		return "add-user new by=" + by + " username=" + name + pick("admin", "", " admin"), by
	case "person":
		return "person " + user + " by=" + by + " username=" + name, by
	case "password":
		return "password " + user + " by=" + by + " to=hash old=hash", by
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
		host := pick("host", "agent.example", "other.example", "third.example")
		if rapid.Bool().Draw(r, "put") {
			return "put-publisher " + host + " by=" + by + " scopes=" + pick("ceiling", "PROFILE_READ", "BOOKING_READ") + pick("defaults", "", " defaults=PROFILE_READ"), by
		}
		return "end-publisher " + host + " by=" + by + " how=" + pick("how", "revoke", "reject", "remove"), by
	case "document":
		return "document https://" + pick("host", "agent.example", "other.example", "third.example") + "/" + pick("path", "1", "2", "3", "4") + " by=" + by + " name=" + name +
			" digest=" + pick("digest", "1", "2", "3") + " uris=" + pick("uris", "http://127.0.0.1/cb", "http://127.0.0.1/cb,http://localhost/cb", "http://localhost/cb"), by
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
	}
	for c := range v.Clients() {
		requireReadable(r, c.Name)
	}
	require.Positive(r, admins)
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
