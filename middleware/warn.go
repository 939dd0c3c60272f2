package middleware

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// warnEvery is the least time between two warnings of one kind. The log needs a bound,
// since requests with any token cause warnings while keys are unavailable.
const warnEvery = 10 * time.Second

// warnings writes the warnings of one kind.
type warnings struct {
	mu      sync.Mutex
	next    time.Time // mu; when the next warning may be written
	omitted int       // mu; warnings not written since the last one
}

// log writes a warning, or a line at debug level if the last warning was less than
// warnEvery ago. The next warning has the number of those, as omitted.
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
