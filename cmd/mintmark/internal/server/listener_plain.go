package server

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
)

// Bounds on a plain request to a port with TLS, in bytes.
const (
	maxPlainHeader = maxHeader
	maxPlainBody   = 1 << 20 // read and dropped, so that the client reads the answer
)

// A plainListener is a listener for TLS that answers plain HTTP requests with plain. It is
// below the TLS listener, whose handshake ends with io.EOF after such an answer; the
// deadline of the handshake bounds the request too.
type plainListener struct {
	net.Listener
	plain http.Handler
}

func (l plainListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &maybePlainConn{Conn: c, plain: l.plain}, nil
}

// A maybePlainConn is a connection of a plainListener.
type maybePlainConn struct {
	net.Conn
	plain http.Handler
	begun bool // something was read; used by the goroutine of the handshake
}

// Read implements net.Conn. A method begins with a capital letter, and no record of TLS
// does.
func (c *maybePlainConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.begun || n == 0 {
		return n, err
	}
	if c.begun = true; b[0] < 'A' || b[0] > 'Z' {
		return n, err
	}
	c.answer(b[:n])
	return 0, io.EOF
}

// answer answers one request, of which begin was read already.
func (c *maybePlainConn) answer(begin []byte) {
	in := &io.LimitedReader{R: io.MultiReader(bytes.NewReader(begin), c.Conn), N: maxPlainHeader}
	w := plainWriter{header: http.Header{}, status: http.StatusBadRequest}
	r, err := http.ReadRequest(bufio.NewReader(in))
	if err == nil {
		r.RemoteAddr = c.RemoteAddr().String()
		c.plain.ServeHTTP(&w, r)
	}
	response := http.Response{
		StatusCode: w.status, ProtoMajor: 1, ProtoMinor: 1, Header: w.header, Request: r, Close: true,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}
	if response.Write(c.Conn) == nil && err == nil {
		in.N = maxPlainBody
		_, _ = io.Copy(io.Discard, r.Body) // unread data would reset the connection
	}
}

// A plainWriter has one small response.
type plainWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *plainWriter) Header() http.Header         { return w.header }
func (w *plainWriter) WriteHeader(status int)      { w.status = status }
func (w *plainWriter) Write(b []byte) (int, error) { return w.body.Write(b) }

// answerPlain answers a request that came without TLS to a port with TLS. A page is
// redirected to the cluster's own address. Everything else is refused, not
// redirected: a client that sends a secret in clear must fail, and not send it again.
func (s *Server) answerPlain(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	page := (r.Method == http.MethodGet || r.Method == http.MethodHead) && !endpoint.IsAPI(r.URL.Path) && r.Header["Authorization"] == nil
	if page && s.isStarted() == nil && strings.HasPrefix(s.Settings.AppURL, "https://") {
		h.Set("Location", s.Settings.AppURL+pathAndQuery(r.URL))
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, "This port needs https.\n")
}

// pathAndQuery returns the part of a URL behind its origin. It begins with a slash.
func pathAndQuery(u *url.URL) string {
	target := "/" + strings.TrimPrefix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	return target
}
