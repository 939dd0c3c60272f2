package chaos

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/verifier"
)

// A journal is what a resource server knows: the verification keys, as each
// node published them over time. It checks tokens with nothing else.
type journal struct {
	w    *world
	http *http.Client

	mu        sync.Mutex
	published map[string][]edition // by node; guarded by mu
	gone      map[string]bool      // names of nodes that are no members any more; guarded by mu
	offline   *verifier.Verifier   // by the newest edition of any node; guarded by mu
}

// An edition is a JWKS from when it was first seen until the next one was.
type edition struct {
	first, last time.Duration // the ends of the first and last answer that had it
	at          int64         // first, as the nodes' clocks have it: seconds since the Unix epoch
	until       int64         // and last
	text        string
	keys        map[string]bool
}

func newJournal(w *world) *journal {
	j := &journal{w: w, http: &http.Client{Timeout: time.Second}, published: map[string][]edition{}, gone: map[string]bool{}}
	for _, n := range w.c.all() {
		if !until(eventually, func() bool { return j.fetch(n) }) {
			w.t.Fatalf("%s publishes no keys", n.name)
		}
	}
	return j
}

// watch fetches from all nodes until ctx ends.
func (j *journal) watch(ctx context.Context) {
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			var all sync.WaitGroup
			for _, n := range j.w.c.all() {
				if n.running() && !n.process().paused() {
					all.Go(func() { j.fetch(n) })
				}
			}
			all.Wait()
		}
	}
}

func (j *journal) fetch(n *node) bool {
	r, err := j.http.Get("http://" + n.public + "/.well-known/jwks.json")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		return false
	}
	j.note(n.name, string(text))
	return true
}

func (j *journal) note(node, text string) {
	now := j.w.c.now()
	j.mu.Lock()
	defer j.mu.Unlock()
	list := j.published[node]
	if len(list) > 0 && list[len(list)-1].text == text {
		list[len(list)-1].last, list[len(list)-1].until = now, j.w.clock().Unix()
		return
	}
	keys, err := verifier.ParseJWKS([]byte(text))
	if err != nil || len(keys) == 0 {
		j.w.h.wrong("%s publishes a JWKS that can't be used: %v", node, err)
		return
	}
	clock := j.w.clock().Unix()
	e := edition{first: now, last: now, at: clock, until: clock, text: text, keys: map[string]bool{}}
	for _, k := range keys {
		e.keys[k.ID()] = true
	}
	j.published[node] = append(list, e)
	source, err := verifier.StaticKeys([]byte(text))
	if err == nil {
		j.offline, err = verifier.New(verifier.Config{
			Issuer: j.w.c.base, Audience: j.w.c.base, Keys: source, Now: j.w.clock,
		})
	}
	if err != nil {
		j.w.h.wrong("no verifier from the JWKS of %s: %v", node, err)
	}
}

// verify checks a token as a resource server does that fetched the keys before.
func (j *journal) verify(token string) (*verifier.Claims, error) {
	j.mu.Lock()
	v := j.offline
	j.mu.Unlock()
	return v.Verify(context.Background(), token)
}
