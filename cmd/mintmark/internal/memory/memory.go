// Package memory sets how often the garbage collector runs and how much memory the
// program may take. The environment variables GOGC and GOMEMLIMIT override it.
//
//	memory.go     the pace of the collector
//	container.go  the limit of the container
package memory

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// percent is the garbage, as a part of the live heap, at which a collection begins.
	// The state is one large heap that changes slowly. Half as many collections as with
	// Go's 100 percent free a tenth of the processor for requests.
	percent = 200
	// minHeap is the heap below which no collection begins. A node with few grants has a
	// live heap of some megabytes and would be collected many times a second. It costs at
	// most these 64 MiB of resident memory, and nothing in a node whose heap is larger.
	minHeap = 64 << 20
	// firstHeap is the live heap that is assumed before the first collection.
	firstHeap = 4 << 20
)

// pace is the state of the collector's pace.
var pace struct {
	mu    sync.Mutex // guards the rest
	tuned bool
	limit int64 // of the container, 0 for none
	floor int64 // heap below which no collection begins
	set   int   // the percentage that was set last
}

// Tune takes over the pace of the collector for the rest of the process.
func Tune() {
	limit := containerLimit(os.DirFS("/"))
	if limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		// Beyond that the collector runs more often, so that the kernel need not kill the
		// process. The rest is for what Go does not count, such as mapped files.
		debug.SetMemoryLimit(limit / 10 * 9)
	}
	if os.Getenv("GOGC") != "" {
		return
	}
	pace.mu.Lock()
	pace.tuned, pace.limit, pace.floor = true, limit, bounded(minHeap, limit)
	pace.mu.Unlock()
	adjust()
	type sentinel struct{ _ *int }
	var collected func(*sentinel)
	collected = func(s *sentinel) { // after each collection
		adjust()
		runtime.SetFinalizer(s, collected)
	}
	runtime.SetFinalizer(new(sentinel), collected)
}

// Load delays collections while a heap of about so many bytes is built, since nearly
// nothing of it is garbage. The caller must call done when it is built.
func Load(bytes int64) (done func()) {
	set := func(floor int64) {
		pace.mu.Lock()
		pace.floor = max(bounded(minHeap, pace.limit), bounded(floor, pace.limit))
		pace.mu.Unlock()
		adjust()
	}
	set(bytes)
	return func() { set(0) }
}

// bounded is a floor that leaves room in a container.
func bounded(floor, limit int64) int64 {
	if limit > 0 {
		return min(floor, limit/4)
	}
	return floor
}

// adjust sets the percentage for the live heap of the last collection.
func adjust() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	pace.mu.Lock()
	defer pace.mu.Unlock()
	if !pace.tuned {
		return
	}
	want := percentFor(int64(live[0].Value.Uint64()), pace.floor)
	// Setting it stops all goroutines for a moment.
	if off := want - pace.set; 10*off > pace.set || -10*off > pace.set {
		pace.set = want
		debug.SetGCPercent(want)
	}
}

// percentFor is the percentage at which a collection begins at twice the live heap
// beside it, and not below the floor.
func percentFor(live, floor int64) int {
	live = max(live, firstHeap)
	return int(max(percent, 100*floor/live-100))
}
