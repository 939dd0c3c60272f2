package ledger_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestChainProperties plays random presentations of random generations
// against a model of ten lines that knows nothing of rows: what is due, when
// it was spent, and whether the grant lives.
func TestChainProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		w.run("user alice")
		w.run("sign-in alice")
		w.run("import app owner=alice secrets=s1 scopes=PROFILE_READ")
		w.run("allow alice client=app scope=PROFILE_READ grant=g")

		var due uint32
		var spent time.Time
		live := true
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			w.now = w.now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 20, 45, 61}).Draw(r, "seconds")) * time.Second)
			generation := uint32(rapid.IntRange(0, int(due)+1).Draw(r, "generation"))
			secret := rapid.SampledFrom([]string{"s1", "s1", "s1", "wrong"}).Draw(r, "secret")
			again := rapid.SampledFrom([]bool{false, false, false, true}).Draw(r, "again")
			refresh := generation > 0

			proof := ledger.Proof{Client: "app", Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: sha256.Sum256([]byte(secret))}}}
			link := &ledger.Link{Grant: id16("g"), Generation: generation, Key: 1}
			var c ledger.Command = &ledger.Exchange{Proof: proof, Link: link, Redirect: sha256.Sum256([]byte("https://app.example/cb"))}
			if refresh {
				c = &ledger.Refresh{Proof: proof, Link: link}
			}
			before := *w.view().Grant(id16("g"))
			o, _ := w.do(c, "", again)
			after := *w.view().Grant(id16("g"))

			inWindow := refresh && generation+1 == due && !w.now.After(spent.Add(time.Minute))
			switch {
			case secret != "s1":
				require.Equal(r, oauth.InvalidClient, o.Refusal.Code)
				require.Equal(r, before, after, "a failed proof changes nothing")
			case again && generation != due:
				require.True(r, o.Unknown, "a marked command that finds the row moved on concludes nothing")
				require.Equal(r, before, after)
			case !live:
				require.Equal(r, oauth.InvalidGrant, o.Refusal.Code, "nothing is accepted of a grant that ended")
				require.Equal(r, before, after)
			case generation == due && due == 0 && w.now.Sub(before.Created.Std()) >= 5*time.Minute:
				require.Equal(r, ledger.CodeExpired, o.Refusal.Cause)
				require.Equal(r, before, after)
			case generation == due:
				require.NotNil(r, o.Issued)
				due, spent = due+1, w.now
				require.Equal(r, due, o.Issued.Generation)
			case generation > due:
				require.Equal(r, ledger.LaterThanDue, o.Refusal.Cause)
				require.Equal(r, before, after)
			case inWindow:
				require.NotNil(r, o.Issued)
				require.True(r, o.Issued.Retry)
				require.Equal(r, due, o.Issued.Generation, "the same successor")
			default:
				require.Equal(r, oauth.InvalidGrant, o.Refusal.Code)
				live = false
			}
			require.Equal(r, due, after.Due)
			require.Equal(r, live, after.Ended == 0)
		}
	})
}
