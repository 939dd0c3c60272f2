package ledger_test

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A bound is the reason why nobody can add so many events of a kind that they displace the
// events of others.
type bound int

const (
	// byTrusted: written by operators, administrators, and the leader's duties.
	byTrusted bound = iota + 1
	// byForm: written by a form of the pages, which issuer/web limits for each user
	// (TestEveryFormIsBounded there).
	byForm
	// bySignIn: issuer/web limits successful sign-ins, by password and by provider, for
	// each person.
	bySignIn
	// bySession: at most one for each session, which needed a sign-in.
	bySession
	// byGrant: at most one for each grant; a user's new grants are limited by day
	// (TestAllowsAreBounded).
	byGrant
	// byGrantADay: at most one for each grant and day.
	byGrantADay
	// byGrantADayAndField: at most one for each grant, day and field of the profile.
	byGrantADayAndField
	// byDocument: written when a document is fetched, at most once an hour for each, by
	// somebody signed in; the number of documents is limited for each publisher.
	byDocument
	// byGrantARestore: at most one for each grant and restore.
	byGrantARestore
)

// bounds has the bound of every kind. A new kind must be added here.
var bounds = map[ledger.EventKind]bound{
	ledger.EventConfigured:    byTrusted,
	ledger.EventBranded:       byTrusted,
	ledger.EventUserPut:       byTrusted,
	ledger.EventUserEdited:    byTrusted,
	ledger.EventProfileEdited: byGrantADayAndField,
	// By administrators, or by the provider's claims at a sign-in.
	ledger.EventUserState:   bySignIn,
	ledger.EventUserAdded:   bySignIn,
	ledger.EventPasswordSet: byForm,
	ledger.EventFeedSet:     byForm,
	ledger.EventSignedIn:    bySignIn,
	ledger.EventSignedOut:   bySession,

	ledger.EventClientCreated:     byForm,
	ledger.EventClientEdited:      byForm,
	ledger.EventClientProposed:    byForm,
	ledger.EventClientReviewed:    byTrusted,
	ledger.EventClientDeleted:     byForm,
	ledger.EventClientOffered:     byForm,
	ledger.EventOfferEnded:        byForm,
	ledger.EventClientTransferred: byForm,
	ledger.EventClientImported:    byTrusted,
	ledger.EventClientApplied:     byTrusted,
	ledger.EventScopesSelected:    byForm,
	ledger.EventSecretAdded:       byForm,
	ledger.EventSecretEdited:      byForm,
	ledger.EventSecretRevoked:     byForm,

	ledger.EventAllowed:       byGrant,
	ledger.EventExchanged:     byGrant,
	ledger.EventRetried:       byGrantADay,
	ledger.EventShared:        byGrantADay,
	ledger.EventReuse:         byGrant,
	ledger.EventFastForwarded: byGrantARestore,
	ledger.EventGrantRevoked:  byGrant,
	ledger.EventDisconnected:  byForm,

	ledger.EventKeyAdded:      byTrusted,
	ledger.EventKeyActivated:  byTrusted,
	ledger.EventKeyDropped:    byTrusted,
	ledger.EventKeyEmergency:  byTrusted,
	ledger.EventRewrapped:     byTrusted,
	ledger.EventNodeForgotten: byTrusted,
	ledger.EventRestored:      byTrusted,
	ledger.EventReplayed:      byTrusted,
	ledger.EventRecovered:     byTrusted,
	ledger.EventFailures:      byTrusted,

	ledger.EventOperatorTokenAdded:   byTrusted,
	ledger.EventOperatorTokenRevoked: byTrusted,
	ledger.EventOperation:            byTrusted,

	ledger.EventResourceAdded:         byTrusted,
	ledger.EventResourceEdited:        byTrusted,
	ledger.EventResourceRemoved:       byTrusted,
	ledger.EventResourceApplied:       byTrusted,
	ledger.EventResourceSecretAdded:   byTrusted,
	ledger.EventResourceSecretRevoked: byTrusted,

	ledger.EventPublisherAdded:     byTrusted,
	ledger.EventPublisherEdited:    byTrusted,
	ledger.EventPublisherApplied:   byTrusted,
	ledger.EventPublisherRevoked:   byTrusted,
	ledger.EventPublisherRejected:  byTrusted,
	ledger.EventPublisherRemoved:   byTrusted,
	ledger.EventPublisherRequested: byDocument,
	ledger.EventDocumentAdded:      byDocument,
	ledger.EventDocumentChanged:    byDocument,
}

func TestEveryKindIsBounded(t *testing.T) {
	kinds := kindsInTheText(t)
	for _, kind := range kinds {
		require.NotZero(t, bounds[kind], "kind %s has no bound", kind)
	}
	require.Len(t, bounds, len(kinds))
}

// checkTrail verifies the bounds, in every scenario and property test.
func (w *env) checkTrail(v ledger.View) {
	w.t.Helper()
	type row struct {
		kind  ledger.EventKind
		grant ledger.GrantID
		day   int64
		field string
	}
	seen := map[row]int{}
	signedIn := map[string]int{}
	for e := range v.Events() {
		one, most := row{kind: e.Kind, grant: e.Grant}, 1
		switch bounds[e.Kind] {
		case bySignIn:
			signedIn[e.User]++
			continue
		case bySession:
			signedIn[e.User]--
			require.GreaterOrEqual(w.t, signedIn[e.User], 0, "%s ended more sessions than there were", e.User)
			continue
		case byTrusted:
			// An actor who was an administrator at the time may have lost the role since.
			if e.Seq == w.seq && e.Actor != ledger.Operator && !ledger.RemoteOperator(e.Actor) {
				require.True(w.t, v.User(e.Actor).Admin, "%s by %s", e.Kind, e.Actor)
			}
			continue
		case byForm, byDocument:
			require.True(w.t, e.Actor == ledger.Operator || ledger.RemoteOperator(e.Actor) || v.User(e.Actor) != nil, "%s by %s", e.Kind, e.Actor)
			continue
		case byGrantADay:
			one.day = e.At.Unix() / (24 * 60 * 60)
		case byGrantADayAndField:
			one.day = e.At.Unix() / (24 * 60 * 60)
			for _, field := range strings.Fields(e.Detail) {
				one.field = field
				seen[one]++
				require.LessOrEqual(w.t, seen[one], most, "%s of %s of one grant", e.Kind, field)
			}
			continue
		case byGrantARestore:
			most = int(v.Restore().Count)
		}
		seen[one]++
		require.LessOrEqual(w.t, seen[one], most, "%s of one grant", e.Kind)
	}
}

// quick decides a command without the checks of do.
func (w *env) quick(c command.Command, n int) ledger.Outcome {
	var id command.ID
	binary.BigEndian.PutUint64(id[:], uint64(n))
	value, _ := w.memory.Do(c, id, false)
	return value.(ledger.Outcome)
}

// TestAllowsAreBounded: each Allow permits more events of other kinds, so Allows are bounded
// over all nodes.
func TestAllowsAreBounded(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "sign-in alice", "user bob", "sign-in bob", "import app owner=alice scopes=PROFILE_READ"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	n := 0
	allow := func(user string) *ledger.Allow {
		n++
		c := &ledger.Allow{
			Actor: ledger.Actor{Session: sha256.Sum256([]byte("session " + user))}, User: "u-" + user, Revision: 1,
			Request: oauth.AuthorizationRequest{ClientID: "app", RedirectURI: "https://app.example/cb", Scope: "PROFILE_READ"},
		}
		binary.BigEndian.PutUint64(c.Grant[:], uint64(n))
		return c
	}
	began := w.at()
	for range 1999 {
		require.NotNil(t, w.quick(allow("alice"), n).Issued)
		w.now = w.now.Add(10 * time.Second)
	}
	last := allow("alice")
	made := w.quick(last, n)
	require.NotNil(t, made.Issued)
	require.Equal(t, made, w.quick(last, n), "the same command must give the same answer")
	before := w.view()

	more := allow("alice")
	refused := w.quick(more, n).Refusal
	require.Equal(t, ledger.TooManyAllows, refused.Cause)
	require.Equal(t, oauth.TemporarilyUnavailable, refused.Code)
	require.Equal(t, began.Add(24*time.Hour), refused.When)
	require.Nil(t, w.view().Grant(more.Grant))
	require.Equal(t, before.User("u-alice"), w.view().User("u-alice"))
	require.NotNil(t, w.quick(allow("bob"), n).Issued, "the limit applies to each user separately")

	// Each Allow that becomes a day old permits another, whether or not it was swept.
	w.now = refused.When.Std()
	w.run("sign-in alice session=alice2")
	for i, line := range []string{"", "sweep"} {
		if line != "" {
			w.now = w.now.Add(5 * time.Minute)
			w.sweepGrants()
		}
		again := func() *ledger.Allow {
			c := allow("alice")
			c.Actor.Session = sha256.Sum256([]byte("session alice2"))
			return c
		}
		k := 0
		for w.quick(again(), n).Refusal == nil {
			k++
		}
		require.Equal(t, []int{1, 30}[i], k)
	}
}

// sweepGrants removes every grant that can be removed.
func (w *env) sweepGrants() {
	ids, _ := w.view().SweepableGrants(ledger.GrantID{}, 10_000, w.at())
	require.NotEmpty(w.t, ids)
	w.quick(&ledger.Sweep{Grants: ids[:min(len(ids), ledger.MaxSweep)]}, 1<<32)
}
