package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"
)

// A Conn is one keep-alive connection of HTTP/1.1. It is not net/http's client because it
// may share the machine with the server: what the generator spends, the server lacks.
type Conn struct {
	conn net.Conn
	r    *bufio.Reader
	host string
	buf  []byte // the request
	body []byte // of the response
	last bool   // the server closes the connection
}

const (
	dialTimeout   = 5 * time.Second
	answerTimeout = 30 * time.Second
	maxBody       = 1 << 20
)

// Dial connects to the origin of a URL.
func Dial(ctx context.Context, origin *url.URL) (*Conn, error) {
	address := origin.Host
	if origin.Port() == "" {
		address = net.JoinHostPort(origin.Hostname(), map[string]string{"http": "80", "https": "443"}[origin.Scheme])
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var c net.Conn
	var err error
	if origin.Scheme == "https" {
		d := tls.Dialer{Config: &tls.Config{ServerName: origin.Hostname(), NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}}
		c, err = d.DialContext(ctx, "tcp", address)
	} else {
		c, err = new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return nil, err
	}
	return &Conn{conn: c, r: bufio.NewReaderSize(c, 8<<10), host: origin.Host}, nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Post sends one form and returns status and body. The next call overwrites the body.
// After an error the connection is of no more use.
func (c *Conn) Post(path, form string) (status int, body []byte, err error) {
	c.begin("POST ", path)
	c.buf = append(c.buf, "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: "...)
	c.buf = strconv.AppendInt(c.buf, int64(len(form)), 10)
	c.buf = append(c.buf, "\r\n\r\n"...)
	c.buf = append(c.buf, form...)
	return c.send()
}

// Get is Post for a GET request, with an access token unless it is "".
func (c *Conn) Get(path, token string) (status int, body []byte, err error) {
	c.begin("GET ", path)
	if token != "" {
		c.buf = append(c.buf, "\r\nAuthorization: Bearer "...)
		c.buf = append(c.buf, token...)
	}
	c.buf = append(c.buf, "\r\n\r\n"...)
	return c.send()
}

func (c *Conn) begin(method, path string) {
	c.buf = append(c.buf[:0], method...)
	c.buf = append(c.buf, path...)
	c.buf = append(c.buf, " HTTP/1.1\r\nHost: "...)
	c.buf = append(c.buf, c.host...)
}

func (c *Conn) send() (status int, body []byte, err error) {
	if c.last {
		return 0, nil, errClosed
	}
	if err := c.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return 0, nil, err
	}
	if _, err := c.conn.Write(c.buf); err != nil {
		return 0, nil, err
	}
	for status < 200 { // until the final response
		if status, err = c.readHead(); err != nil {
			return 0, nil, err
		}
	}
	return status, c.body, nil
}

var (
	errClosed = errors.New("the server has closed the connection")
	errAnswer = errors.New("the answer is not HTTP/1.1 with a body of known length")
)

// readHead reads a response and returns its status.
func (c *Conn) readHead() (status int, err error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return 0, errAnswer
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, errAnswer
	}
	length, chunked := int64(-1), false
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		name, value, ok := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		if !ok {
			break
		}
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.ParseInt(string(value), 10, 64); err != nil || length < 0 || length > maxBody {
				return 0, errAnswer
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		case bytes.EqualFold(name, []byte("Connection")):
			c.last = c.last || bytes.EqualFold(value, []byte("close"))
		}
	}
	switch {
	case status < 200 || status == 204:
		c.body = c.body[:0]
		return status, nil
	case chunked:
		return status, c.readChunks()
	case length < 0:
		return 0, errAnswer
	}
	if int64(cap(c.body)) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	_, err = io.ReadFull(c.r, c.body)
	return status, err
}

// readChunks reads a body that a proxy has cut into chunks (RFC 9112 §7.1).
func (c *Conn) readChunks() (err error) {
	if c.body, err = io.ReadAll(io.LimitReader(httputil.NewChunkedReader(c.r), maxBody)); err != nil {
		return err
	}
	for { // trailers, which the reader leaves
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read trailers: %w", err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
	}
}
