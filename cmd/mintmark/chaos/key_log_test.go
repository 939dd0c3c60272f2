package chaos

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/verifier"
)

// A keyLog is the knowledge of a resource server: the verification keys that each node
// published over time. It verifies tokens with nothing else.
type keyLog struct {
	env  *env
	http *http.Client

	mu        sync.Mutex
	published map[string][]keySetVersion // by node; guarded by mu
	removed   map[string]bool            // names of nodes that are no longer members; guarded by mu
	offline   *verifier.Verifier         // with the newest version of any node; guarded by mu
}

// A keySetVersion is a JWKS from its first answer until the next version.
type keySetVersion struct {
	first, last time.Duration // ends of the first and last answer with it
	at          int64         // first, by the nodes' clocks: seconds since the Unix epoch
	until       int64         // last, by the nodes' clocks
	text        string
	keys        map[string]bool
}

func newKeyLog(w *env) *keyLog {
	j := &keyLog{env: w, http: &http.Client{Timeout: time.Second}, published: map[string][]keySetVersion{}, removed: map[string]bool{}}
	for _, n := range w.c.all() {
		if !testkit.Until(eventually, func() bool { return j.fetch(n) }) {
			w.t.Fatalf("%s publishes no keys", n.Name)
		}
	}
	return j
}

// watch fetches from all nodes until ctx ends.
func (j *keyLog) watch(ctx context.Context) {
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			var all sync.WaitGroup
			for _, n := range j.env.c.all() {
				if n.Running() && !n.Process().Paused() {
					all.Go(func() { j.fetch(n) })
				}
			}
			all.Wait()
		}
	}
}

func (j *keyLog) fetch(n *node) bool {
	r, err := j.http.Get(n.URL() + "/.well-known/jwks.json")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		return false
	}
	j.record(n.Name, string(text))
	return true
}

func (j *keyLog) record(node, text string) {
	now := j.env.c.now()
	j.mu.Lock()
	defer j.mu.Unlock()
	list := j.published[node]
	if len(list) > 0 && list[len(list)-1].text == text {
		list[len(list)-1].last, list[len(list)-1].until = now, j.env.clock().Unix()
		return
	}
	keys, err := verifier.ParseJWKS([]byte(text))
	if err != nil || len(keys) == 0 {
		j.env.h.addFault("%s publishes a JWKS that can't be used: %v", node, err)
		return
	}
	clock := j.env.clock().Unix()
	e := keySetVersion{first: now, last: now, at: clock, until: clock, text: text, keys: map[string]bool{}}
	for _, k := range keys {
		e.keys[k.ID()] = true
	}
	j.published[node] = append(list, e)
	source, err := verifier.StaticKeys([]byte(text))
	if err == nil {
		j.offline, err = verifier.New(verifier.Config{
			Issuer: j.env.c.base, Audience: j.env.c.base, Keys: source, Now: j.env.clock,
		})
	}
	if err != nil {
		j.env.h.addFault("no verifier from the JWKS of %s: %v", node, err)
	}
}

// verify verifies a token as a resource server with these keys does.
func (j *keyLog) verify(token string) (*verifier.Claims, error) {
	j.mu.Lock()
	v := j.offline
	j.mu.Unlock()
	return v.Verify(context.Background(), token)
}
