package telemetry

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/requestlog"
)

// accessRate is the number of requests a second that have a line in the access log.
const accessRate = 100

// An AccessLog writes one line for each request. Requests beyond accessRate in a second
// have none, unless they failed with 5xx; one line has their number. A nil *AccessLog
// writes nothing.
type AccessLog struct {
	log      *slog.Logger
	clientIP func(*http.Request) string
	on       *atomic.Bool

	mu    sync.Mutex  // guards the fields below
	begun time.Time   // beginning of the second
	lines int         // in that second
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
	level := slog.LevelInfo
	if t.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	if !a.log.Enabled(r.Context(), level) || level == slog.LevelInfo && !a.admit(time.Now()) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", t.route.Method), slog.String("route", t.route.Pattern), slog.Int("status", t.status),
		slog.Int64("bytes", t.bytes), slog.Duration("duration", took.Round(time.Microsecond)), slog.String("address", a.clientIP(r)),
	}
	a.log.LogAttrs(r.Context(), level, "request", append(attrs, record.Attrs()...)...)
}

// admit reports whether a line may be written now, and otherwise counts a request without
// one.
func (a *AccessLog) admit(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if age := now.Sub(a.begun); age >= time.Second || age < 0 {
		a.begun, a.lines = now, 0
	}
	if a.lines < accessRate {
		a.lines++
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
