package feed

import "sync"

// How many answers wait for something new at once: of one reader, which may be as
// many processes of one resource server, and of all. Each holds a connection and a
// goroutine. One more is answered without a wait, so that its reader asks again
// after its own pause, and misses nothing.
const (
	maxOfReader = 1024
	maxWaiting  = 4096
)

// waiting counts the answers that wait.
type waiting struct {
	mu  sync.Mutex
	all int            // mu
	by  map[string]int // mu; by reader, no zeros
}

func (w *waiting) enter(reader string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all >= maxWaiting || w.by[reader] >= maxOfReader {
		return false
	}
	if w.by == nil {
		w.by = map[string]int{}
	}
	w.all++
	w.by[reader]++
	return true
}

func (w *waiting) leave(reader string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all--
	if w.by[reader]--; w.by[reader] == 0 {
		delete(w.by, reader)
	}
}
