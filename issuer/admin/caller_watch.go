package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// DefaultTimeout is for how long a node may be silent before a Caller gives up.
const DefaultTimeout = 15 * time.Second

// A timeoutError says that a node that took a connection answers nothing there:
// it was stopped in its tracks, or its machine hangs.
type timeoutError struct{ timeout time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("nothing came for %s", e.timeout) }

// withProbe is a context that ends when the node hangs while an operation is under
// way. Some operations take long by right, and a backup takes what its size
// needs, so it is not the answer that must come in time: a node that lives
// answers another question beside it at once.
func (c *Caller) withProbe(ctx context.Context) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	go c.probe(ctx, end)
	return ctx, func() { end(nil) }
}

func (c *Caller) probe(ctx context.Context, end context.CancelCauseFunc) {
	half := c.Timeout / 2
	pause := time.NewTicker(half)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
		if c.isUnresponsive(ctx, half) {
			end(&timeoutError{c.Timeout})
			return
		}
	}
}

// isUnresponsive asks a server what it does ("OPTIONS *", RFC 9110 §9.3.7), which every
// one answers without looking at its state. One that is gone is not silent: the
// operation hears of that by itself.
func (c *Caller) isUnresponsive(ctx context.Context, patience time.Duration) bool {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := (&http.Request{
		Method: http.MethodOptions, URL: &url.URL{Scheme: "http", Host: "local", Opaque: "*"}, Header: http.Header{},
	}).WithContext(asking)
	resp, err := c.streams.Do(r)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err != nil && ctx.Err() == nil && errors.Is(asking.Err(), context.DeadlineExceeded)
}

// timeoutCause is err, or what ended an operation whose node hangs.
func (c *Caller) timeoutCause(ctx context.Context, err error) error {
	var silent *timeoutError
	if err != nil && errors.As(context.Cause(ctx), &silent) {
		return &UnreachableError{c.path, silent}
	}
	return err
}
