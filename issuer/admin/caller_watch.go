package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultTimeout is how long a node may be unresponsive before a Caller gives up.
const DefaultTimeout = 15 * time.Second

// A timeoutError reports that a node that accepts connections doesn't respond: its
// process was stopped, or its machine hangs.
type timeoutError struct{ timeout time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("nothing came for %s", e.timeout) }

// withProbe returns a context that is cancelled if the node hangs during an operation.
// Some operations are slow for good reasons, such as a large backup, so there is no limit
// on the time of a response. Instead, a probe is sent concurrently, to which a running
// node responds at once.
func (c *Caller) withProbe(ctx context.Context) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	go c.probe(ctx, end)
	return ctx, func() { end(nil) }
}

func (c *Caller) probe(ctx context.Context, end context.CancelCauseFunc) {
	timeout := cmp.Or(c.Timeout, DefaultTimeout)
	half := timeout / 2
	pause := time.NewTicker(half)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
		if c.isUnresponsive(ctx, half) {
			end(&timeoutError{timeout})
			return
		}
	}
}

// isUnresponsive sends a server a request that it answers without reading its state
// ("OPTIONS *", RFC 9110 §9.3.7). It returns false for a server that has exited: the
// operation itself fails then.
func (c *Caller) isUnresponsive(ctx context.Context, patience time.Duration) bool {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	scheme, host, _ := strings.Cut(c.base, "://")
	r := (&http.Request{
		Method: http.MethodOptions, URL: &url.URL{Scheme: scheme, Host: host, Opaque: "*"}, Header: http.Header{},
	}).WithContext(asking)
	resp, err := c.streams.Do(r)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err != nil && ctx.Err() == nil && errors.Is(asking.Err(), context.DeadlineExceeded)
}

// timeoutCause returns err, or the cause of the cancellation if the node hangs.
func (c *Caller) timeoutCause(ctx context.Context, err error) error {
	var silent *timeoutError
	if err != nil && errors.As(context.Cause(ctx), &silent) {
		return c.unreachable(silent)
	}
	return err
}
