package requestlog

import (
	"context"
	"log/slog"
	"sync"
)

// Header is the header with the id of a request. Every response has it, and a trusted
// proxy may set it in the request.
const Header = "X-Request-Id"

// A Record is of one request. ID and Trace are set before the request is handled.
type Record struct {
	ID    string
	Trace string // trace id in hexadecimal; "" without tracing

	mu    sync.Mutex // guards attrs
	attrs []slog.Attr
}

type key struct{}

// With returns a context with the record of a request.
func With(ctx context.Context, r *Record) context.Context { return context.WithValue(ctx, key{}, r) }

func from(ctx context.Context) *Record {
	r, _ := ctx.Value(key{}).(*Record)
	return r
}

// ID returns the id of the request of a context; "" if it has none.
func ID(ctx context.Context) string {
	if r := from(ctx); r != nil {
		return r.ID
	}
	return ""
}

// Add adds attributes to the request's line in the access log. They must not have text of
// an unauthenticated sender. It returns false if the context has no record.
func Add(ctx context.Context, attrs ...slog.Attr) bool {
	r := from(ctx)
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attrs = append(r.attrs, attrs...)
	return true
}

// Attrs returns what was added.
func (r *Record) Attrs() []slog.Attr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.attrs
}

// A Handler adds the ids of the request to each log record with its context.
type Handler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h Handler) Handle(ctx context.Context, l slog.Record) error {
	if r := from(ctx); r != nil {
		l.AddAttrs(slog.String("request_id", r.ID))
		if r.Trace != "" {
			l.AddAttrs(slog.String("trace_id", r.Trace))
		}
	}
	return h.Handler.Handle(ctx, l)
}

// WithAttrs implements slog.Handler.
func (h Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return Handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h Handler) WithGroup(name string) slog.Handler { return Handler{h.Handler.WithGroup(name)} }
