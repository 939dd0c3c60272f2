package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// A download is an operation that answers with bytes. It ends with a trailer
// that says so: bytes without one are cut.
type download[Request any] string

// An upload is an operation whose request is one line of JSON and then bytes.
// They are sent in chunks (RFC 9112 §7.1), of which the last says that it is
// the last: a reader of bytes that were cut gets an error in place of io.EOF.
type upload[Request, Answer any] string

const (
	endTrailer = "Mintmark-End"
	endWhole   = "whole" // what it says if all went well; else a Problem as JSON

	maxLine = 64 << 10 // of an upload's request
)

func downloadRoute[Q any](o download[Q], do func(*call, context.Context, Q, io.Writer) error) route {
	return route{string(o), func(c *call, w http.ResponseWriter, r *http.Request) (any, error) {
		q, err := request[Q](w, r)
		if err != nil {
			return nil, err
		}
		c.stream = &stream{w: w}
		if err := do(c, r.Context(), q, c.stream); err != nil {
			return nil, err
		}
		c.stream.begin() // though there is nothing in it
		return nil, c.stream.err
	}}
}

func uploadRoute[Q, A any](o upload[Q, A], do func(*call, context.Context, Q, io.Reader) (A, error)) route {
	return route{string(o), func(c *call, w http.ResponseWriter, r *http.Request) (any, error) {
		// The deadline for reading a request is for one that is short.
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

// A stream is the answer to a download. The first byte settles that it is one:
// what fails before is answered as any other operation is.
type stream struct {
	w    http.ResponseWriter
	open bool
	err  error // of the first write that failed, whether or not the writer minded
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
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}

// end says that all was sent, or why not.
func (s *stream) end(p *Problem) {
	said := endWhole
	if p != nil {
		b, err := json.Marshal(p)
		if err != nil {
			return // and so the client takes it to be cut
		}
		said = string(b)
	}
	s.w.Header().Set(endTrailer, said)
}
