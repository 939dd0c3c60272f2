package server

import (
	"net/http"
	"sync"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
)

// fairRequests refuses a request with 429 while its source has most requests in progress. With
// HTTP/2 the number of connections doesn't bound that. Sources, and who is exempt, are those of
// newFairListener.
func fairRequests(next http.Handler, most int, trusted proxy.Trusted) http.Handler {
	var mu sync.Mutex // guards inProgress
	inProgress := newSourceCount(most)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sources, exempt := sourcesOf(r.RemoteAddr, trusted)
		if exempt {
			next.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		ok := inProgress.add(sources)
		mu.Unlock()
		if !ok {
			writeUnavailable(w, http.StatusTooManyRequests, "There are too many requests at a time. Try again.")
			return
		}
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			inProgress.remove(sources)
		}()
		next.ServeHTTP(w, r)
	})
}
