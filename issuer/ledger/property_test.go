package ledger_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A chain is the model of a grant in TestChainProperties.
type chain struct {
	due           uint32
	spent         time.Time
	live          bool
	restored      bool // the state came out of a backup, or of the only remaining node
	fastForwarded bool // since then
}

// TestChainProperties presents random generations, with backups and restores in between, and
// compares the results with a model that has no rows.
func TestChainProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newEnv(t)
		w.run("user alice")
		w.run("sign-in alice")
		w.run("import app owner=alice secrets=s1 scopes=PROFILE_READ")
		w.run("allow alice client=app scope=PROFILE_READ grant=g")

		chain, saved := chain{live: true}, chain{live: true}
		w.backup("b")
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			switch rapid.IntRange(0, 9).Draw(r, "restore") {
			case 0:
				w.backup("b")
				saved = chain
			case 1:
				if rapid.Bool().Draw(r, "recovery") { // a recovery permits the same fast-forward
					w.run("recover b")
				} else {
					w.restore("b")
					w.must(&ledger.BeginRestore{})
				}
				chain = saved
				chain.restored, chain.fastForwarded = true, false
			}
			w.now = w.now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 20, 45, 61}).Draw(r, "seconds")) * time.Second)
			generation := uint32(rapid.IntRange(0, int(chain.due)+3).Draw(r, "generation"))
			secret := rapid.SampledFrom([]string{"s1", "s1", "s1", "wrong"}).Draw(r, "secret")
			again := rapid.SampledFrom([]bool{false, false, false, true}).Draw(r, "again")
			refresh := generation > 0

			proof := ledger.ClientAuth{Client: "app", Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: sha256.Sum256([]byte(secret))}}}
			link := &ledger.CredentialRef{Grant: id16("g"), Generation: generation, Key: 1}
			var c command.Command = &ledger.Exchange{ClientAuth: proof, Credential: link, Redirect: sha256.Sum256([]byte("https://app.example/cb"))}
			if refresh {
				c = &ledger.Refresh{ClientAuth: proof, Credential: link}
			}
			before := *w.view().Grant(id16("g"))
			o, _ := w.do(c, "", again)
			after := *w.view().Grant(id16("g"))

			inWindow := refresh && generation+1 == chain.due && !w.now.After(chain.spent.Add(time.Minute))
			later := generation > chain.due
			skips := later && chain.restored && !chain.fastForwarded
			switch {
			case secret != "s1":
				require.Equal(r, oauth.InvalidClient, o.Refusal.Code)
				require.Equal(r, before, after, "a failed authentication changed the state")
			case again && generation != chain.due && !skips:
				require.True(r, o.Unknown, "a repeated command whose row has moved on must be unknown")
				require.Equal(r, before, after)
			case !chain.live:
				require.Equal(r, oauth.InvalidGrant, o.Refusal.Code, "an ended grant accepted a credential")
				require.Equal(r, before, after)
			case generation == 0 && chain.due == 0 && w.now.Sub(before.Created.Std()) >= 5*time.Minute:
				require.Equal(r, ledger.CodeExpired, o.Refusal.Cause)
				require.Equal(r, before, after)
			case generation == chain.due, skips:
				require.NotNil(r, o.Issued)
				chain.due, chain.spent, chain.fastForwarded = generation+1, w.now, chain.fastForwarded || skips
				require.Equal(r, chain.due, o.Issued.Generation)
			case later && chain.restored:
				require.Equal(r, ledger.SecondFastForward, o.Refusal.Cause)
				chain.live = false
			case later:
				require.Equal(r, ledger.LaterThanDue, o.Refusal.Cause)
				require.Equal(r, before, after)
			case inWindow:
				require.NotNil(r, o.Issued)
				require.True(r, o.Issued.Retry)
				require.Equal(r, chain.due, o.Issued.Generation, "a retry issued another successor")
			default:
				require.Equal(r, oauth.InvalidGrant, o.Refusal.Code)
				chain.live = false
			}
			require.Equal(r, chain.due, after.Due)
			require.Equal(r, chain.live, after.Ended == 0)
		}
	})
}
