package feed

import "sync"

// How many answers wait for something new at once: of one reader, which may be as
// many processes of one resource server, and of all. Each holds a connection and a
// goroutine. One more is answered without a wait, so that its reader asks again
// after its own pause, and misses nothing.
const (
	maxWaitingPerReader = 1024
	maxWaiting          = 4096
)

// waiters counts the answers that wait.
type waiters struct {
	mu       sync.Mutex
	total    int            // mu
	byReader map[string]int // mu; by reader, no zeros
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
