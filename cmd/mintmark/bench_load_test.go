package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The load generator is raw on purpose: it shares the machine with what it
// measures, so each cycle that it spends is taken from both sides alike.

// connections is how many clients ask at once, each on a connection of its
// own.
const connections = 64

// A wire is one keep-alive connection.
type wire struct {
	conn net.Conn
	r    *bufio.Reader
	buf  []byte
	body []byte
}

func dial(address string) (*wire, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &wire{conn: c, r: bufio.NewReaderSize(c, 8<<10), body: make([]byte, 8<<10)}, nil
}

var contentLength = []byte("Content-Length: ")

// post sends one form and returns status and body; the body is overwritten by
// the next.
func (w *wire) post(path, form string) (status int, body []byte, err error) {
	w.buf = append(w.buf[:0], "POST "...)
	w.buf = append(w.buf, path...)
	w.buf = append(w.buf, " HTTP/1.1\r\nHost: bench\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: "...)
	w.buf = strconv.AppendInt(w.buf, int64(len(form)), 10)
	w.buf = append(w.buf, "\r\n\r\n"...)
	w.buf = append(w.buf, form...)
	if _, err := w.conn.Write(w.buf); err != nil {
		return 0, nil, err
	}
	line, err := w.r.ReadSlice('\n')
	if err != nil {
		return 0, nil, err
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, err
	}
	length := -1
	for {
		line, err := w.r.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		if len(line) <= 2 {
			break
		}
		if rest, ok := bytes.CutPrefix(line, contentLength); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(rest))); err != nil {
				return 0, nil, err
			}
		}
	}
	if length < 0 || length > len(w.body) {
		return 0, nil, errors.New("no usable Content-Length")
	}
	_, err = io.ReadFull(w.r, w.body[:length])
	return status, w.body[:length], err
}

var refreshMember = []byte(`"refresh_token":"`)

// refreshTokenIn finds the token in a response without a JSON parser.
func refreshTokenIn(body []byte) (string, bool) {
	_, rest, ok := bytes.Cut(body, refreshMember)
	if !ok {
		return "", false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return "", false
	}
	return string(rest[:end]), true
}

// load refreshes for a while on all connections, each walking through its own
// share of the tokens, and returns how many requests were answered.
func load(t testing.TB, address string, tokens []string, d time.Duration) int64 {
	t.Helper()
	n, err := tryLoad(address, tokens, d)
	require.NoError(t, err)
	return n
}

// tryLoad is load for a server that may go away meanwhile.
func tryLoad(address string, tokens []string, d time.Duration) (int64, error) {
	var done atomic.Int64
	var wait sync.WaitGroup
	failed := make([]error, connections)
	end := time.Now().Add(d)
	share := len(tokens) / connections
	for n := range connections {
		mine := tokens[n*share : (n+1)*share]
		wait.Go(func() { failed[n] = walk(address, mine, end, &done) })
	}
	wait.Wait()
	return done.Load(), errors.Join(failed...)
}

// walk refreshes one token after the other, round and round, until the end.
func walk(address string, tokens []string, end time.Time, done *atomic.Int64) error {
	w, err := dial(address)
	if err != nil {
		return err
	}
	defer w.conn.Close()
	for i := 0; time.Now().Before(end); i = (i + 1) % len(tokens) {
		status, body, err := w.post("/v2/auth/oauth2/token",
			"grant_type=refresh_token&client_id=bench-app&client_secret=bench-secret&refresh_token="+tokens[i])
		if err != nil {
			return err
		}
		next, ok := refreshTokenIn(body)
		if status != 200 || !ok {
			return fmt.Errorf("status %d: %s", status, body)
		}
		tokens[i] = next
		done.Add(1)
	}
	return nil
}

// cpuOf is the processor time of a process so far (proc(5), stat, fields 14
// and 15).
func cpuOf(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err := strconv.ParseInt(fields[11], 10, 64)
	require.NoError(t, err)
	system, err := strconv.ParseInt(fields[12], 10, 64)
	require.NoError(t, err)
	const ticks = 100 // a second, on every Linux that Go runs on
	return time.Duration(user+system) * time.Second / ticks
}

// residentOf is the memory of a process, in bytes.
func residentOf(t testing.TB, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "VmRSS:")
	require.True(t, ok)
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	require.NoError(t, err)
	return kb << 10
}
