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
	waitAnswer     = 10 * time.Second // for one complete response of the provider
	maxAnswer      = 1 << 20          // bytes
	maxConnections = 16
)

// NewTransport returns a transport with limits on everything, so that the provider, or an
// impostor, can't exhaust resources of this service.
func NewTransport() *http.Transport {
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

// newClient follows no redirect: the provider's endpoints have no need for one, and the
// requests contain secrets.
func newClient(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: bounded{t}, Timeout: waitAnswer,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A bounded passes on successful responses of bounded size. It turns others into errors
// without their bodies, since the libraries would quote them and they may contain
// anything.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	// Error responses of the token endpoint are passed on (RFC 6749 §5.2).
	refusal := r.Method == http.MethodPost && a.StatusCode >= 400 && a.StatusCode < 500
	if a.StatusCode != http.StatusOK && !refusal {
		_ = a.Body.Close()
		return nil, fmt.Errorf("status %d", a.StatusCode)
	}
	a.Body = &boundedBody{a.Body, maxAnswer}
	return a, nil
}

var errTooLong = errors.New("response too long")

type boundedBody struct {
	io.ReadCloser
	remaining int
}

// Read returns an error if the body exceeds the limit, instead of ending: a truncated body
// could be mistaken for a complete one.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.remaining -= n; b.remaining < 0 {
		return 0, errTooLong
	}
	return n, err
}

// truncateError returns an error of a library, shortened for a log.
func truncateError(doing string, err error) error {
	text := err.Error()
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "..."
	}
	return fmt.Errorf("%s: %s", doing, text)
}
