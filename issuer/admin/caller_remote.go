package admin

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"
)

// A RemoteServer names a server on another machine, and authenticates the operator there: by
// Token or by Certificate.
type RemoteServer struct {
	URL string // https://HOST:PORT
	// Authority has the certificates that the server's must be from; nil for those that
	// the system trusts.
	Authority   *x509.CertPool
	Token       Plain
	Certificate *tls.Certificate
}

// NewRemoteCaller returns a Caller for a server on another machine. It connects at the
// first call. The operations that only the local socket accepts are refused without a
// request.
func NewRemoteCaller(s RemoteServer) (*Caller, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || s.URL != u.Scheme+"://"+u.Host:
		return nil, errors.New("address of the server: must be https://HOST:PORT")
	case (s.Token == "") == (s.Certificate == nil):
		return nil, errors.New("a server on another machine needs either a token or a certificate")
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.Authority}
	if s.Certificate != nil {
		// Sent whatever authorities the server names: it has the better error.
		conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return s.Certificate, nil }
	}
	client := func(patience time.Duration) *http.Client {
		return &http.Client{
			Transport: bearer{s.Token, &http.Transport{
				Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext,
				TLSClientConfig: conf, TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: patience, DisableCompression: true,
			}},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return &Caller{
		http: client(answerTimeout), streams: client(0), base: s.URL, place: s.URL, remote: true,
	}, nil
}

// Remote reports whether the server is one on another machine.
func (c *Caller) Remote() bool { return c.remote }

// bearer adds a token to requests (RFC 6750 §2.1).
type bearer struct {
	token Plain
	*http.Transport
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token.Reveal())
	}
	return b.Transport.RoundTrip(r)
}
