package middleware

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// warnEvery is the least time between two warnings of one kind. Who has no good
// token can cause as many requests as they like while keys are unavailable.
const warnEvery = 10 * time.Second

// warnings are those of one kind.
type warnings struct {
	mu      sync.Mutex
	next    time.Time // mu; when the next one may be written
	omitted int       // mu; since the last one that was written
}

// log writes a warning, or a line for debugging if there was a warning lately. The
// next warning says how many were omitted.
func (w *warnings) log(ctx context.Context, to *slog.Logger, text string, args ...any) {
	now := time.Now()
	w.mu.Lock()
	write, omitted := !now.Before(w.next), w.omitted
	if write {
		w.next, w.omitted = now.Add(warnEvery), 0
	} else {
		w.omitted++
	}
	w.mu.Unlock()
	if !write {
		to.DebugContext(ctx, text, args...)
		return
	}
	if omitted > 0 {
		args = append(args, "omitted", omitted)
	}
	to.WarnContext(ctx, text, args...)
}
