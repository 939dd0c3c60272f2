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
	"net/url"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/requestlog"
)

// A Caller sends operations to a server. It is safe for concurrent use.
type Caller struct {
	http    *http.Client
	streams *http.Client // without a timeout for the whole operation
	base    string       // origin of the URLs of requests
	place   string       // path of the socket, or address of the server
	remote  bool
	// Timeout is how long the server may be unresponsive, whatever the operation. 0
	// means DefaultTimeout.
	Timeout time.Duration
	// Stale is called if a response may lag, since the server had no fresh view. It may be
	// nil.
	Stale func()
}

// NewCaller returns a Caller for the node of a data directory, over its local socket. It
// connects at the first call.
func NewCaller(dataDir string) (*Caller, error) {
	path := filepath.Join(dataDir, SocketName)
	if err := checkPath(path); err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		d := net.Dialer{Timeout: dialTimeout}
		return d.DialContext(ctx, "unix", path)
	}
	client := func(patience time.Duration) *http.Client {
		return &http.Client{Transport: &http.Transport{
			DialContext: dial, ResponseHeaderTimeout: patience, DisableCompression: true,
		}}
	}
	return &Caller{http: client(answerTimeout), streams: client(0), base: "http://local", place: path}, nil
}

const (
	dialTimeout   = 5 * time.Second
	answerTimeout = time.Minute // of an operation that is no stream
)

// Close closes idle connections.
func (c *Caller) Close() {
	c.http.CloseIdleConnections()
	c.streams.CloseIdleConnections()
}

// An UnreachableError reports that no server responded.
type UnreachableError struct {
	Place string // path of the socket, or address of the server
	Err   error

	remote bool
}

func (c *Caller) unreachable(err error) error { return &UnreachableError{c.place, err, c.remote} }

func (e *UnreachableError) sentinel() error {
	if e.remote {
		return ErrServerUnreachable
	}
	return ErrUnreachable
}

func (e *UnreachableError) Error() string {
	var silent *timeoutError
	switch {
	case errors.As(e.Err, &silent):
		return fmt.Sprintf("%v %s: the node does not answer: its process was stopped, or hangs; whether it did what it was asked can't be told (%v)",
			e.sentinel(), e.Place, cause(e.Err))
	case errors.Is(e.Err, fs.ErrPermission) && !e.remote:
		return fmt.Sprintf("%v %s: only the account that runs the node may use it (%v)", e.sentinel(), e.Place, cause(e.Err))
	}
	return fmt.Sprintf("%v %s: %v", e.sentinel(), e.Place, cause(e.Err))
}

func (e *UnreachableError) Unwrap() []error {
	var silent *timeoutError
	if errors.As(e.Err, &silent) || errors.Is(e.Err, fs.ErrPermission) {
		return []error{e.Err}
	}
	return []error{e.sentinel(), e.Err}
}

// cause returns the system's error, if there is one. The errors around it repeat the path
// and name a URL that has no meaning here.
func cause(err error) error {
	var errno syscall.Errno
	var request *url.Error
	switch {
	case errors.As(err, &errno):
		return errno
	case errors.As(err, &request):
		return request.Err
	}
	return err
}

// Call runs the operation. The error is a *Problem or an *UnreachableError, or reports
// that client and server are incompatible.
func (o Operation[Q, A]) Call(ctx context.Context, c *Caller, q Q) (A, error) {
	var answer A
	if err := c.check(string(o)); err != nil {
		return answer, err
	}
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

// post sends a request and returns a response that is not a Problem.
func (c *Caller) post(ctx context.Context, via *http.Client, operation, kind string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+pathPrefix+operation, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	r.Header.Set("Content-Type", kind)
	resp, err := via.Do(r)
	if err != nil {
		return nil, c.unreachable(err)
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
		return nil, fmt.Errorf("%s: the server answered %s, and not as a listener for operators does", operation, resp.Status)
	}
	if id := resp.Header.Get(requestlog.Header); p.Class == Internal && p.Note == "" && id != "" {
		p.Note = "request_id " + id // of the line in the node's log
	}
	return nil, &p
}

func readAnswer[A any](operation string, resp *http.Response) (answer A, err error) {
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return answer, fmt.Errorf("%s: invalid response", operation)
	}
	return answer, nil
}
