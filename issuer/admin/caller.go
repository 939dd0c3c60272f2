package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"syscall"
	"time"
)

// A Caller sends operations to the server of a data directory.
type Caller struct {
	http    *http.Client
	streams *http.Client // for what may take its time
	path    string
	// Timeout is for how long the server may answer nothing at all, whatever it
	// was asked. Default: DefaultTimeout.
	Timeout time.Duration
	// Stale is told that an answer may lag, since the server could not make
	// sure; nil where nobody wants to know.
	Stale func()
}

// NewCaller looks for the server of a data directory when it is first used.
func NewCaller(dataDir string) (*Caller, error) {
	path := filepath.Join(dataDir, SocketName)
	if err := checkPath(path); err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		d := net.Dialer{Timeout: 5 * time.Second}
		return d.DialContext(ctx, "unix", path)
	}
	client := func(patience time.Duration) *http.Client {
		return &http.Client{Transport: &http.Transport{
			DialContext: dial, ResponseHeaderTimeout: patience, DisableCompression: true,
		}}
	}
	return &Caller{http: client(time.Minute), streams: client(0), path: path, Timeout: DefaultTimeout}, nil
}

// Close ends the connections that are kept open.
func (c *Caller) Close() {
	c.http.CloseIdleConnections()
	c.streams.CloseIdleConnections()
}

// An UnreachableError says that no server answered.
type UnreachableError struct {
	Path string
	Err  error
}

func (e *UnreachableError) Error() string {
	why := "does a node run, with this data directory?"
	var silent *timeoutError
	switch {
	case errors.As(e.Err, &silent):
		why = "the node does not answer: its process was stopped, or hangs; whether it did what it was asked can't be told"
	case errors.Is(e.Err, fs.ErrPermission):
		why = "only the account that runs the node may use it"
	}
	return fmt.Sprintf("no answer at %s: %s (%v)", e.Path, why, cause(e.Err))
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// cause is the system's error where there is one: what stands around it
// repeats the path and names a URL that means nothing here.
func cause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// Call runs the operation. The error is a *Problem or an *UnreachableError,
// or says that the two programs do not understand each other.
func (o Operation[Q, A]) Call(ctx context.Context, c *Caller, q Q) (A, error) {
	var answer A
	body, err := json.Marshal(q)
	if err != nil {
		return answer, fmt.Errorf("%s: %w", o, err)
	}
	ctx, done := c.withProbe(ctx)
	defer done()
	resp, err := c.post(ctx, c.http, string(o), "application/json", bytes.NewReader(body))
	if err != nil {
		return answer, c.timeoutCause(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = readAnswer[A](string(o), resp)
	return answer, c.timeoutCause(ctx, err)
}

// post sends a request. Its answer is one that is no Problem.
func (c *Caller) post(ctx context.Context, via *http.Client, operation, kind string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://local"+pathPrefix+operation, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	r.Header.Set("Content-Type", kind)
	resp, err := via.Do(r)
	if err != nil {
		return nil, &UnreachableError{c.path, err}
	}
	if resp.Header.Get(staleHeader) != "" && c.Stale != nil {
		c.Stale()
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	var p Problem
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || p.Class == "" {
		return nil, fmt.Errorf("%s: the server answered %s", operation, resp.Status)
	}
	return nil, &p
}

func readAnswer[A any](operation string, resp *http.Response) (answer A, err error) {
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return answer, fmt.Errorf("%s: the server's answer can not be read", operation)
	}
	return answer, nil
}
