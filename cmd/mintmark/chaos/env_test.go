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

// An env is a cluster with accounts and clients in it, and the history of what
// was asked.
type env struct {
	t      testing.TB
	c      *cluster
	h      *history
	keyLog *keyLog

	mu         sync.Mutex
	secrets    map[string][]secret // by client; the first is there from the beginning; guarded by mu
	password   string
	minted     map[string]string // refresh tokens by grant and generation; guarded by mu
	running    int               // number of the last user; guarded by mu
	excuses    []excuse          // guarded by mu
	clockSteps []clockStep       // of the clocks of all nodes; guarded by mu
	halts      []halt            // guarded by mu
}

// A secret of a client. Its id is "" while the answer that has it is missing.
type secret struct{ id, text string }

const (
	callback = "http://127.0.0.1:9999/callback"
	scopes   = "PROFILE_READ BOOKING_READ"
	users    = 6
)

// Clients: the grants of some are what matters, the secrets of another, the
// state of a third.
const (
	turning  = "turning-app"  // its secrets come and go
	toggling = "toggling-app" // it is suspended and resumed
)

var steady = []string{"steady-app-1", "steady-app-2"}

func user(n int) string { return fmt.Sprintf("user-%d", n) }

// newEnv makes accounts and clients by the operators' commands.
func newEnv(t testing.TB, c *cluster) *env {
	t.Helper()
	w := &env{t: t, c: c, h: newHistory(), secrets: map[string][]secret{}, minted: map[string]string{}, password: random("password")}
	first := c.nodes[0]
	for n := range users {
		a := first.decided([]byte(w.password), "user", "add", user(n), "--password-file", "-")
		require.Equal(t, exitOK, a.code, "%s", a.errors)
	}
	for _, id := range append([]string{turning, toggling}, steady...) {
		text := random("secret")
		a := first.decided([]byte(text), "client", "add", "--id", id, "--name", marker+" "+id, "--owner", user(0),
			"--redirect-uri", callback, "--scope", scopes, "--secret-file", "-")
		require.Equal(t, exitOK, a.code, "%s", a.errors)
		first.must("client", "approve", id)
		w.secrets[id] = []secret{{w.secretIDs(first, id)[0], text}}
	}
	w.keyLog = newKeyLog(w)
	return w
}

// marker stands in the name of each client, so that whoever looks for secrets
// in the files of a node can see that it can see.
const marker = "Plainly Visible"

func random(prefix string) string {
	var b [24]byte
	_, _ = rand.Read(b[:])
	return prefix + "-marker-" + hex.EncodeToString(b[:])
}

// secretIDs are the ids of a client's secrets, as a node knows them.
func (w *env) secretIDs(n *node, client string) (ids []string) {
	a := n.run("client", "secret", "list", client)
	for i, line := range strings.Split(strings.TrimSpace(string(a.out)), "\n") {
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

// received notes a refresh token: a generation has one, whoever asks and how
// often.
func (w *env) received(grant string, gen uint32, token string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := fmt.Sprint(grant, "/", gen)
	if old, known := w.minted[key]; known && old != token {
		w.h.addFault("grant %s has two refresh tokens of generation %d", grant, gen)
	}
	w.minted[key] = token
}

// nextUser deals the users out to those who browse.
func (w *env) nextUser() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running++
	return user(w.running % users)
}
