package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A download is an operation whose response is bytes. It ends with a trailer; without the
// trailer, the bytes are incomplete.
type download[Request any] string

// An upload is an operation whose request is one line of JSON followed by bytes. The body
// is sent in chunks (RFC 9112 §7.1), of which the last is marked: reading a truncated
// body returns an error instead of io.EOF.
type upload[Request, Answer any] string

const (
	endTrailer = "Mintmark-End"
	endWhole   = "whole" // the trailer after success; otherwise it is a Problem as JSON

	maxLine = 64 << 10 // of an upload's first line

	// streamTimeout is how long a client on another machine may accept nothing of a download.
	streamTimeout = time.Minute
)

func downloadRoute[Q any](scope ledger.OperatorScope, o download[Q], do func(*call, context.Context, Q, io.Writer) error) route {
	return route{name: string(o), scope: scope, request: reflect.TypeFor[Q](), serve: func(c *call, w http.ResponseWriter, r *http.Request) (any, error) {
		q, err := request[Q](w, r)
		if err != nil {
			return nil, err
		}
		c.stream = &stream{w: w, remote: c.remote()}
		if err := do(c, r.Context(), q, c.stream); err != nil {
			return nil, err
		}
		c.stream.begin() // the download is empty
		return nil, c.stream.err
	}}
}

func uploadRoute[Q, A any](scope ledger.OperatorScope, o upload[Q, A], do func(*call, context.Context, Q, io.Reader) (A, error)) route {
	return route{name: string(o), scope: scope, request: reflect.TypeFor[Q](), answer: reflect.TypeFor[A](), upload: true, serve: func(c *call, w http.ResponseWriter, r *http.Request) (any, error) {
		// The read deadline is meant for short requests.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		in := bufio.NewReaderSize(r.Body, maxLine)
		line, err := in.ReadSlice('\n')
		if err != nil {
			return nil, &Problem{Class: BadRequest, Text: "the request could not be read, or is too long"}
		}
		var q Q
		if err := decode(line, &q); err != nil {
			return nil, err
		}
		return do(c, r.Context(), q, in)
	}}
}

// A stream is the response to a download. It begins with the first byte: an earlier error
// gets an ordinary response.
type stream struct {
	w      http.ResponseWriter
	remote bool // the client is on another machine
	open   bool
	err    error // the first error of writing, even if the writer ignored it
}

func (s *stream) begun() bool { return s != nil && s.open }

func (s *stream) begin() {
	if s.open {
		return
	}
	s.open = true
	s.w.Header().Set("Content-Type", "application/octet-stream")
	s.w.Header().Set("Cache-Control", "no-store")
	s.w.Header().Set("Trailer", endTrailer)
	s.w.WriteHeader(http.StatusOK)
}

func (s *stream) Write(b []byte) (int, error) {
	s.begin()
	if s.err != nil {
		return 0, s.err
	}
	if s.remote {
		_ = http.NewResponseController(s.w).SetWriteDeadline(time.Now().Add(streamTimeout))
	}
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}

// end writes the trailer: success, or why not everything was sent.
func (s *stream) end(p *Problem) {
	said := endWhole
	if p != nil {
		b, err := json.Marshal(p)
		if err != nil {
			return // without a trailer, the client treats the download as incomplete
		}
		said = string(b)
	}
	s.w.Header().Set(endTrailer, said)
}
