package feed

import "sync"

// How many requests may wait concurrently: of one reader, which may be many processes of
// one resource server, and in total. Each occupies a connection and a goroutine. Further
// requests are answered at once, so that their readers poll again after their own pause
// and miss nothing.
const (
	maxWaitingPerReader = 1024
	maxWaiting          = 4096
)

// waiters counts waiting requests.
type waiters struct {
	mu       sync.Mutex
	total    int            // guarded by mu
	byReader map[string]int // guarded by mu; without zeros
}

func (w *waiters) acquire(reader string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.total >= maxWaiting || w.byReader[reader] >= maxWaitingPerReader {
		return false
	}
	if w.byReader == nil {
		w.byReader = map[string]int{}
	}
	w.total++
	w.byReader[reader]++
	return true
}

func (w *waiters) release(reader string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total--
	if w.byReader[reader]--; w.byReader[reader] == 0 {
		delete(w.byReader, reader)
	}
}
