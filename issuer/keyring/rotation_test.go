package keyring_test

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

var update = flag.Bool("update", false, "write the scenarios anew")

// TestRotationScenarios runs the files of testdata/rotation on three nodes: each step is
// followed by "----" and its result. After each step, every running node must publish the
// keys of all unexpired tokens: a key is in every key set before its first use, and stays
// until its last token expires.
func TestRotationScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/rotation/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := newRotation(t).play(string(text))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}

// A rotation is a cluster and the state of a scenario.
type rotation struct {
	*issuertest.Peers
	t       *testing.T
	named   []string             // ids of signing keys in order of appearance: K1, K2 …
	expires map[string]time.Time // when the last token of each key expires
	away    *issuertest.Peer     // the stopped leader
}

func newRotation(t *testing.T) *rotation {
	r := &rotation{Peers: issuertest.NewPeers(t), t: t, expires: map[string]time.Time{}}
	first := r.All[0].Issuer
	accept := func(c command.Command) {
		o, _, err := first.Propose(t.Context(), c)
		require.NoError(t, err)
		require.Nil(t, o.Refusal, "%T", c)
	}
	secret, err := first.Secret("a-secret")
	require.NoError(t, err)
	accept(&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"})
	accept(&ledger.ImportClient{
		ID: "app", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Secrets: []ledger.NewSecret{secret},
		Profile: ledger.Profile{Name: "App", RedirectURIs: []string{issuertest.RedirectURI}, Scopes: []string{"PROFILE_READ"}},
	})
	r.name(first.View().ActiveKey(ledger.ForSigning).ID)
	return r
}

func (r *rotation) play(text string) string {
	var out strings.Builder
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		require.True(r.t, lines.Scan() && lines.Text() == "----", "%q has no result", line)
		for lines.Scan() && lines.Text() != "" {
		}
		fmt.Fprintf(&out, "----\n%s\n\n", r.step(strings.Fields(line)))
		r.check(line)
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func (r *rotation) step(words []string) string {
	switch verb := words[0]; verb {
	case "now":
		d, err := time.ParseDuration(strings.TrimPrefix(words[1], "+"))
		require.NoError(r.t, err)
		r.Offset.Add(int64(d))
	case "rotate":
		id, err := r.node(words[1]).Issuer.Keyring.Rotate(r.t.Context(), ledger.ForSigning)
		if err != nil {
			return "refused"
		}
		return r.name(id) + " is announced"
	case "replace":
		done, err := r.running()[0].Issuer.Rekey.Replace(r.t.Context(), r.id(words[1]))
		require.NoError(r.t, err)
		delete(r.expires, r.id(words[1])) // its tokens are revoked intentionally
		return fmt.Sprintf("%s is active, %d steps, waits for %v", r.name(done.Active), len(done.Steps), done.WaitingFor)
	case "opened":
		r.await(func(p *issuertest.Peer) bool {
			for _, other := range r.running() {
				if n := p.Issuer.View().Node(other.Node.ID()); n == nil || !n.HasOpened(r.id(words[1])) {
					return false
				}
			}
			return true
		})
	case "becomes":
		r.await(func(p *issuertest.Peer) bool { return r.state(p, words[1]) == words[2] })
	case "stays":
		for range 3 {
			r.awaitLeader().Issuer.Keyring.Step(r.t.Context())
		}
		return words[1] + " is " + r.state(r.running()[0], words[1])
	case "stop":
		r.stop(words[1])
	case "start":
		p := r.away
		if words[1] != "leader" {
			p = r.node(words[1])
		}
		p.FreshWait = time.Minute // longer than needed
		if len(words) > 2 {       // it starts alone and finds no leader
			p.FreshWait = 100 * time.Millisecond
		}
		p.Start(false)
	case "depose":
		r.depose()
	case "join":
		p := r.Add()
		p.FreshWait = time.Minute
		r.Join(p)
		p.Start(false)
		r.await(func(o *issuertest.Peer) bool { return len(o.Node.Voters()) == len(r.All) })
	case "mint":
		return r.mint()
	case "promises":
		if len(words) > 2 {
			r.await(func(*issuertest.Peer) bool {
				return r.node(words[1]).Issuer.Keyring.KeySet().MaxAge.String() == words[2]
			})
		}
		return r.node(words[1]).Issuer.Keyring.KeySet().MaxAge.String()
	default:
		r.t.Fatalf("%s?", verb)
	}
	return "ok"
}

// check verifies invariant S9 for what every node serves now. A node without a leader may
// have older keys, but must serve them with max-age 0.
func (r *rotation) check(step string) {
	r.t.Helper()
	now := time.Now().Add(time.Duration(r.Offset.Load()))
	for _, p := range r.running() {
		k := p.Issuer.Keyring.KeySet()
		for id, until := range r.expires {
			if now.Before(until) && (k.MaxAge > 0 || r.leader() != nil) {
				require.Contains(r.t, kids(r.t, k), id, "after %q, %s: %s has live tokens", step, p.Name, r.name(id))
			}
		}
	}
}

// mint issues tokens on every node, and verifies that all nodes had published the key
// before.
func (r *rotation) mint() string {
	var used []string
	for _, p := range r.running() {
		before := map[string][]string{}
		for _, other := range r.running() {
			before[other.Name] = kids(r.t, other.Issuer.Keyring.KeySet())
		}
		kid := issuertest.KeyID(r.t, r.token(p).AccessToken)
		for name, published := range before {
			require.Contains(r.t, published, kid, "%s had not published it", name)
		}
		r.expires[kid] = time.Now().Add(time.Duration(r.Offset.Load()) + oauth.AccessTokenLifetime*time.Second)
		if name := r.name(kid); !slices.Contains(used, name) {
			used = append(used, name)
		}
	}
	return strings.Join(used, " ")
}

func (r *rotation) token(p *issuertest.Peer) oauth.TokenResponse {
	var session [32]byte
	var grant ledger.GrantID
	_, _ = rand.Read(session[:])
	_, _ = rand.Read(grant[:])
	_, _, err := p.Issuer.Propose(r.t.Context(), &ledger.SignIn{Session: session, User: "u-alice", VerifiedHash: sha256.Sum256([]byte("hash"))})
	require.NoError(r.t, err)
	o, index, err := p.Issuer.Propose(r.t.Context(), &ledger.Allow{
		Actor: ledger.Actor{Session: session}, User: "u-alice", Grant: grant, Revision: 1,
		Request: oauth.AuthorizationRequest{ClientID: "app", RedirectURI: issuertest.RedirectURI, Scope: "PROFILE_READ"},
	})
	require.NoError(r.t, err)
	require.Nil(r.t, o.Refusal)
	code, err := p.Issuer.Code(r.t.Context(), o.Issued, index)
	require.NoError(r.t, err)
	answer, err := p.Issuer.Token(r.t.Context(), oauth.TokenRequest{
		GrantType: oauth.AuthorizationCode, Client: oauth.ClientCredentials{ID: "app", Secret: "a-secret"}, Code: code.Reveal(), RedirectURI: issuertest.RedirectURI,
	})
	require.NoError(r.t, err)
	return answer
}

func kids(t *testing.T, k oauth.KeySet) (ids []string) {
	var set struct {
		Keys []struct{ Kid string }
	}
	require.NoError(t, json.Unmarshal(k.Body, &set))
	for _, key := range set.Keys {
		ids = append(ids, key.Kid)
	}
	return ids
}

// await repeats the duties until holds is true for all running nodes.
func (r *rotation) await(holds func(*issuertest.Peer) bool) {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		r.duties()
		return !slices.ContainsFunc(r.running(), func(p *issuertest.Peer) bool { return !holds(p) })
	}, 30*time.Second, 10*time.Millisecond)
}

// duties runs the duties of the leader, without their timers.
func (r *rotation) duties() {
	if p := r.leader(); p != nil {
		p.Issuer.Keyring.Step(r.t.Context())
	}
}

func (r *rotation) leader() *issuertest.Peer {
	for _, p := range r.running() {
		if leads, _ := p.Node.Leading(); leads {
			return p
		}
	}
	return nil
}

func (r *rotation) awaitLeader() (p *issuertest.Peer) {
	require.Eventually(r.t, func() bool { p = r.leader(); return p != nil }, 20*time.Second, 10*time.Millisecond)
	return p
}

// depose transfers leadership to another node.
func (r *rotation) depose() {
	old := r.awaitLeader()
	require.Eventually(r.t, func() bool {
		for _, p := range r.running() {
			if p != old && old.Node.TransferLeadership(r.t.Context(), p.Name) == nil {
				return true
			}
		}
		return false
	}, 20*time.Second, 10*time.Millisecond)
	require.Eventually(r.t, func() bool { p := r.leader(); return p != nil && p != old }, 20*time.Second, 10*time.Millisecond)
}

func (r *rotation) stop(name string) {
	if name != "leader" {
		r.node(name).Stop()
		return
	}
	r.away = r.awaitLeader()
	r.away.Stop()
}

func (r *rotation) running() (list []*issuertest.Peer) {
	for _, p := range r.All {
		if p.Issuer != nil {
			list = append(list, p)
		}
	}
	return list
}

func (r *rotation) node(name string) *issuertest.Peer {
	i := slices.IndexFunc(r.All, func(p *issuertest.Peer) bool { return p.Name == name })
	require.GreaterOrEqual(r.t, i, 0, name)
	return r.All[i]
}

func (r *rotation) state(p *issuertest.Peer, name string) string {
	k := p.Issuer.View().Key(r.id(name))
	if k == nil {
		return "gone"
	}
	return string(k.State)
}

// name returns the name of a key in the scenario; id is its inverse.
func (r *rotation) name(id string) string {
	i := slices.Index(r.named, id)
	if i < 0 {
		i = len(r.named)
		r.named = append(r.named, id)
	}
	return fmt.Sprintf("K%d", i+1)
}

func (r *rotation) id(name string) string {
	var n int
	_, err := fmt.Sscanf(name, "K%d", &n)
	require.NoError(r.t, err)
	return r.named[n-1]
}
