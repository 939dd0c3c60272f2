package machine

import (
	"fmt"
	"sync"
)

// watches signals to readers that a table changed.
type watches struct {
	mu    sync.Mutex
	chans map[string]chan struct{} // made on demand, removed when closed
}

// next returns a channel that is closed at the next change of table.
func (w *watches) next(table string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.chans == nil {
		w.chans = make(map[string]chan struct{})
	}
	ch := w.chans[table]
	if ch == nil {
		ch = make(chan struct{})
		w.chans[table] = ch
	}
	return ch
}

// fire is called after the commit that changed the tables.
func (w *watches) fire(tables map[string]struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for table := range tables {
		w.close(table)
	}
}

// fireAll is called after a restore, which may have changed any table.
func (w *watches) fireAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for table := range w.chans {
		w.close(table)
	}
}

func (w *watches) close(table string) {
	if ch := w.chans[table]; ch != nil {
		close(ch)
		delete(w.chans, table)
	}
}

// Changed returns a channel that is closed at the next change of table.
func (c *State) Changed(table string) <-chan struct{} {
	if c.schema.tables[table] == nil {
		panic(fmt.Sprintf("machine: Changed of unknown table %q", table))
	}
	return c.watches.next(table)
}
