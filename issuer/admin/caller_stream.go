package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
)

// call runs a download. Without an error, w has received everything.
func (o download[Q]) call(ctx context.Context, c *Caller, q Q, w io.Writer) error {
	if err := c.check(string(o)); err != nil {
		return err
	}
	body, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	ctx, done := c.withProbe(ctx)
	defer done()
	resp, err := c.post(ctx, c.streams, string(o), "application/json", bytes.NewReader(body))
	if err != nil {
		return c.timeoutCause(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	in := &reader{Reader: resp.Body}
	if _, err := io.Copy(w, in); err != nil && in.failed() == nil {
		return fmt.Errorf("write response: %w", err)
	}
	switch said := resp.Trailer.Get(endTrailer); {
	case ctx.Err() != nil:
		return c.timeoutCause(ctx, fmt.Errorf("%s: %w", o, ctx.Err()))
	case in.failed() != nil:
		return truncatedAnswer()
	case said == endWhole:
		return nil
	default:
		var p Problem
		if err := json.Unmarshal([]byte(said), &p); err != nil || p.Class == "" {
			return truncatedAnswer()
		}
		return &p
	}
}

func truncatedAnswer() *Problem {
	return &Problem{Class: Unavailable, Text: "the node stopped in the middle of its answer"}
}

// call runs an upload of the whole of r.
func (o upload[Q, A]) call(ctx context.Context, c *Caller, q Q, r io.Reader) (A, error) {
	var none A
	if err := c.check(string(o)); err != nil {
		return none, err
	}
	line, err := json.Marshal(q)
	if err != nil {
		return none, fmt.Errorf("%s: %w", o, err)
	}
	ctx, done := c.withProbe(ctx)
	defer done()
	in := &reader{Reader: r}
	resp, err := c.post(ctx, c.streams, string(o), "application/octet-stream",
		io.MultiReader(bytes.NewReader(append(line, '\n')), in))
	if err := in.failed(); err != nil {
		return none, fmt.Errorf("read input: %w", err)
	}
	if err != nil {
		return none, c.timeoutCause(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := readAnswer[A](string(o), resp)
	return answer, c.timeoutCause(ctx, err)
}

// A reader records why it could not be read, which the copying code can't distinguish
// from an error of writing.
type reader struct {
	io.Reader
	err atomic.Pointer[error] // may be read while another goroutine sends
}

func (r *reader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && err != io.EOF {
		r.err.CompareAndSwap(nil, &err)
	}
	return n, err
}

// failed returns the error of Read, or nil.
func (r *reader) failed() error {
	if err := r.err.Load(); err != nil {
		return *err
	}
	return nil
}
