package chaos

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/verifier"
)

// The resource server that reads the feed of revocations.
const reader, readerSecret = "calendar", "mms_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// fedCluster starts three nodes that serve the feed.
func fedCluster(t *testing.T) *cluster {
	t.Helper()
	c := newSingle(t, build(t), false)
	c.assemble(3)
	file := filepath.Join(c.dir, "reader-secret")
	require.NoError(t, os.WriteFile(file, []byte(readerSecret), 0o600))
	require.True(t, testkit.Until(eventually, func() bool {
		return c.all()[0].run("resource-server", "add", "https://calendar.example", "--name", reader, "--secret-file", file).Code == exitOK
	}))
	return c
}

// resourceServer reads the feed of one node, and of the others if that fails.
func (c *cluster) resourceServer(first *node, others ...*node) *verifier.Verifier {
	c.t.Helper()
	at := func(n *node, path string) string { return n.URL() + path }
	keys, err := verifier.NewJWKS(verifier.JWKSConfig{URL: at(first, verifier.KeySetPath)})
	require.NoError(c.t, err)
	c.t.Cleanup(keys.Close)
	r := &verifier.RevocationsConfig{Name: reader, Secret: readerSecret, URL: at(first, verifier.RevocationsPath)}
	for _, n := range others {
		r.MoreURLs = append(r.MoreURLs, at(n, verifier.RevocationsPath))
	}
	v, err := verifier.New(verifier.Config{Issuer: c.base, Audience: c.base, Keys: keys, Revocations: r})
	require.NoError(c.t, err)
	c.t.Cleanup(v.Close)
	require.True(c.t, testkit.Until(eventually, v.RevocationsFresh))
	return v
}

// freshness returns the time that a node signs; ok is false if there is no such answer.
func (n *node) freshness(t *testing.T) (at int64, ok bool) {
	t.Helper()
	basic := base64.StdEncoding.EncodeToString([]byte(reader + ":" + readerSecret))
	r := send(t.Context(), newHTTP(nil), http.MethodGet, n.URL()+verifier.RevocationsPath, nil, "Authorization", "Basic "+basic)
	if r.Status != http.StatusOK {
		return 0, false
	}
	parts := strings.Split(r.Body, ".")
	require.Len(t, parts, 3)
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var said struct{ Iat int64 }
	require.NoError(t, json.Unmarshal(text, &said))
	return said.Iat, true
}

// TestFeedOfANodeThatIsCutOff: an isolated node does not sign a current time. So a
// resource server that reads only this node knows that its revocations are outdated, and
// one with other URLs reads them from another node before they are stale.
func TestFeedOfANodeThatIsCutOff(t *testing.T) {
	c := fedCluster(t)
	w := newEnv(t, c)
	for name, pick := range map[string]func() *node{
		"a follower": func() *node { return c.anyBut(c.leader()) },
		"the leader": c.leader,
	} {
		t.Run(name, func(t *testing.T) {
			lonely := pick()
			var others []*node
			for _, n := range c.all() {
				if n != lonely {
					others = append(others, n)
				}
			}
			list := w.codes(1)
			require.Len(t, list, 1)
			g := list[0]
			o, _ := newApplication(w).exchange(t.Context(), others[0], g, false)
			require.Equal(t, ok, o.Class)
			moves, stays := c.resourceServer(lonely, others...), c.resourceServer(lonely)
			good := func(v *verifier.Verifier) bool { _, err := v.Verify(t.Context(), g.access); return err == nil }
			require.True(t, good(moves) && good(stays))

			for _, n := range others {
				require.NoError(t, c.links.disturb(pair{n.Name, lonely.Name}, "hole", ""))
				require.NoError(t, c.links.disturb(pair{lonely.Name, n.Name}, "hole", ""))
			}
			cutOff := time.Now()
			var revoked time.Time
			for time.Since(cutOff) < 2*verifier.DefaultRevocationsStale {
				require.True(t, moves.RevocationsFresh(), "%+v", moves.Revocations())
				if revoked.IsZero() && others[0].run("grant", "revoke", g.id).Code == exitOK {
					revoked = time.Now()
				}
				time.Sleep(testkit.PollPause)
			}
			require.False(t, revoked.IsZero(), "the others decide")
			require.False(t, good(moves), "revocation read from another node")
			require.False(t, stays.RevocationsFresh())
			require.True(t, good(stays), "without other URLs the token stays valid, except on routes that fail closed")
			if at, answers := lonely.freshness(t); answers {
				require.LessOrEqual(t, at, cutOff.Unix()+1)
			}
			at, answers := others[0].freshness(t)
			require.True(t, answers)
			require.Greater(t, at, cutOff.Unix()+5)

			for _, n := range others {
				require.NoError(t, c.links.calm(pair{n.Name, lonely.Name}, "hole"))
				require.NoError(t, c.links.calm(pair{lonely.Name, n.Name}, "hole"))
			}
			require.True(t, testkit.Until(eventually, func() bool { return stays.RevocationsFresh() && !good(stays) }))
			c.requireReady(c.all()...)
		})
	}
}
