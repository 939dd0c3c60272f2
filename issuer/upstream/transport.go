package upstream

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	waitAnswer     = 10 * time.Second // for one answer of the provider, to its last byte
	maxAnswer      = 1 << 20          // bytes
	maxConnections = 16               // connections
)

// newTransport is bounded in every way: what the provider does, or who plays it,
// must cost this service little.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		ResponseHeaderTimeout:  waitAnswer,
		MaxResponseHeaderBytes: 64 << 10,
		MaxConnsPerHost:        maxConnections,
		IdleConnTimeout:        time.Minute,
		ForceAttemptHTTP2:      true,
	}
}

// newClient follows no redirect: none of the provider's endpoints has a reason
// for one, and what is sent to them are secrets.
func newClient(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: bounded{t}, Timeout: waitAnswer,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded lets answers through that can be read, of bounded size. The others
// become errors here, without a word of their bodies: the libraries would quote
// them, and they may hold anything.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	// The errors of the token endpoint are answers (RFC 6749 §5.2).
	refusal := r.Method == http.MethodPost && a.StatusCode >= 400 && a.StatusCode < 500
	if a.StatusCode != http.StatusOK && !refusal {
		_ = a.Body.Close()
		return nil, fmt.Errorf("answered %d", a.StatusCode)
	}
	a.Body = &boundedBody{a.Body, maxAnswer}
	return a, nil
}

var errTooLong = errors.New("the answer is too long")

type boundedBody struct {
	io.ReadCloser
	remaining int
}

// Read fails where there is more than may be, instead of ending: half an answer
// is none.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.remaining -= n; b.remaining < 0 {
		return 0, errTooLong
	}
	return n, err
}

// truncateError is an error of a library, short enough for a log.
func truncateError(doing string, err error) error {
	text := err.Error()
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "..."
	}
	return fmt.Errorf("%s: %s", doing, text)
}
