package chaos

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// An env is a cluster with accounts and clients, and the history of requests.
type env struct {
	t      testing.TB
	c      *cluster
	h      *history
	keyLog *keyLog
	agents []agent // of the load; nil before startLoad

	mu         sync.Mutex
	secrets    map[string][]secret // by client; the first exists from the beginning; guarded by mu
	password   string
	minted     map[string]string // refresh tokens by grant and generation; guarded by mu
	running    int               // number of the last user; guarded by mu
	excuses    []excuse          // guarded by mu
	clockSteps []clockStep       // of the clocks of all nodes; guarded by mu
	halts      []halt            // guarded by mu
}

// A secret is a client's. Its id is "" until the answer with it is received.
type secret struct{ id, text string }

const (
	callback = "http://127.0.0.1:9999/callback"
	scopes   = "PROFILE_READ BOOKING_READ"
	users    = 6
)

// The clients: steady ones for grants, one for secrets, one for its state.
const (
	turning  = "turning-app"  // its secrets are rotated
	toggling = "toggling-app" // it is suspended and reinstated
)

var steady = []string{"steady-app-1", "steady-app-2"}

func user(n int) string { return fmt.Sprintf("user-%d", n) }

// newEnv creates accounts and clients with the operators' commands.
func newEnv(t testing.TB, c *cluster) *env {
	t.Helper()
	w := &env{t: t, c: c, h: newHistory(), secrets: map[string][]secret{}, minted: map[string]string{}, password: random("password")}
	first := c.nodes[0]
	for n := range users {
		a := first.Decided(w.password, "user", "add", user(n), "--password-file", "-")
		require.Equal(t, exitOK, a.Code, "%s", a.Err)
	}
	for _, id := range append([]string{turning, toggling}, steady...) {
		text := random("secret")
		a := first.Decided(text, "client", "add", "--id", id, "--name", marker+" "+id, "--owner", user(0),
			"--redirect-uri", callback, "--scope", scopes, "--secret-file", "-")
		require.Equal(t, exitOK, a.Code, "%s", a.Err)
		first.Must("", "client", "approve", id)
		w.secrets[id] = []secret{{w.secretIDs(first, id)[0], text}}
	}
	w.keyLog = newKeyLog(w)
	return w
}

// marker is in the name of each client, so that the scan for secrets in a node's files
// can check that it finds text.
const marker = "Plainly Visible"

func random(prefix string) string {
	var b [24]byte
	_, _ = rand.Read(b[:])
	return prefix + "-marker-" + hex.EncodeToString(b[:])
}

// secretIDs returns the ids of a client's secrets, as known by a node.
func (w *env) secretIDs(n *node, client string) (ids []string) {
	a := n.run("client", "secret", "list", client)
	for i, line := range strings.Split(strings.TrimSpace(a.Out), "\n") {
		if fields := strings.Fields(line); i > 0 && len(fields) > 0 {
			ids = append(ids, fields[0])
		}
	}
	return ids
}

func (w *env) secretText(client string, n int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.secrets[client][n].text
}

// received records a refresh token: a generation has exactly one.
func (w *env) received(grant string, gen uint32, token string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := fmt.Sprint(grant, "/", gen)
	if old, known := w.minted[key]; known && old != token {
		w.h.addFault("grant %s has two refresh tokens of generation %d", grant, gen)
	}
	w.minted[key] = token
}

// nextUser distributes the users over the browsers.
func (w *env) nextUser() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running++
	return user(w.running % users)
}
