package telemetry

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/requestlog"
)

// accessRate is the number of requests a second that have a line in the access log, and that of
// failures (5xx) in addition.
const accessRate = 100

// An AccessLog writes one line for each request. Requests beyond accessRate in a second
// have none; one line has their number. Failures are counted by themselves, so that other
// requests never push them out. A nil *AccessLog writes nothing.
type AccessLog struct {
	log      *slog.Logger
	clientIP func(*http.Request) string
	on       *atomic.Bool

	mu    sync.Mutex  // guards the fields below
	begun time.Time   // beginning of the second
	lines [2]int      // in that second: of failures in 1, of others in 0
	left  int         // requests without a line since the last report
	timer *time.Timer // of the next report; nil while left is 0
}

// NewAccessLog returns an AccessLog that writes lines while on is true; nil if on is nil.
// clientIP returns the address of a request's client.
func NewAccessLog(log *slog.Logger, clientIP func(*http.Request) string, on *atomic.Bool) *AccessLog {
	if on == nil {
		return nil
	}
	return &AccessLog{log: log, clientIP: clientIP, on: on}
}

// Close reports how many requests had no line since the last report.
func (a *AccessLog) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.report()
}

// write writes the line of a request. It has the route's pattern instead of the path, and
// no header of the request, so that nothing in it is secret.
func (a *AccessLog) write(r *http.Request, record *requestlog.Record, t *timedWriter, took time.Duration) {
	if a == nil || !a.on.Load() {
		return
	}
	level, kind := slog.LevelInfo, 0
	if t.status >= http.StatusInternalServerError {
		level, kind = slog.LevelWarn, 1
	}
	if !a.log.Enabled(r.Context(), level) || !a.admit(kind, time.Now()) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", t.route.Method), slog.String("route", t.route.Pattern), slog.Int("status", t.status),
		slog.Int64("bytes", t.bytes), slog.Duration("duration", took.Round(time.Microsecond)), slog.String("address", a.clientIP(r)),
	}
	a.log.LogAttrs(r.Context(), level, "request", append(attrs, record.Attrs()...)...)
}

// admit reports whether a line may be written now, of a failure if kind is 1, and otherwise
// counts a request without one.
func (a *AccessLog) admit(kind int, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if age := now.Sub(a.begun); age >= time.Second || age < 0 {
		a.begun, a.lines = now, [2]int{}
	}
	if a.lines[kind] < accessRate {
		a.lines[kind]++
		return true
	}
	a.left++
	if a.timer == nil {
		a.timer = time.AfterFunc(time.Second, a.Close)
	}
	return false
}

// report ends a count of requests without a line. a.mu is held.
func (a *AccessLog) report() {
	if a.timer == nil {
		return
	}
	a.timer.Stop()
	a.log.Info("requests left out of the access log", "count", a.left)
	a.timer, a.left = nil, 0
}
