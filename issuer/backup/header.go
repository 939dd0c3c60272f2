package backup

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	magic     = "mintmark backup "
	version   = "1"
	maxHeader = 64 << 10
)

// Kinds of files.
const (
	KindState   = "state"   // the whole state of a cluster
	KindJournal = "journal" // the journal of a node
)

var (
	// ErrFormat reports a file that is not a backup, or of an unknown version.
	ErrFormat = errors.New("not a backup file in a known format")

	// ErrDamaged reports a file that was changed, truncated or extended.
	ErrDamaged = errors.New("the file is damaged: it was changed, or cut short; take another copy of it")
)

// A Header is the part of the file that is not sealed. It describes the body and names the
// key that opens it. Readers ignore unknown fields, so that later versions can add some.
type Header struct {
	Kind       string            `json:"kind"`
	Cluster    string            `json:"cluster"`             // id of the cluster
	Node       string            `json:"node,omitempty"`      // name of the node that wrote it
	Taken      time.Time         `json:"taken"`               // by the clock of Node
	StateTime  time.Time         `json:"state_time,omitzero"` // of the last command in the body
	From       uint64            `json:"from,omitempty"`      // for a journal: first Seq that it covers
	Seq        uint64            `json:"seq"`                 // of the last command in the body
	LogIndex   uint64            `json:"log_index,omitempty"`
	Version    string            `json:"version"` // of the program that wrote it
	Level      uint32            `json:"level"`   // feature level of the cluster
	ClusterKey string            `json:"cluster_key"`
	Timelines  []Timeline        `json:"timelines,omitempty"` // the timelines that led to the state, its own last; absent if the cluster had none yet
	Counts     map[string]uint64 `json:"counts,omitempty"`    // rows of each table, or other contents of the body

	// Tail describes commands at the end of a journal that come from a log which doesn't
	// record whether they were decided; nil if there are none.
	Tail *Tail `json:"tail,omitempty"`
	// Incomplete explains why a journal may end too early; "" if it doesn't.
	Incomplete string `json:"incomplete,omitempty"`

	// Size is the size of the whole file in bytes. Inspect sets it; it is not written.
	Size int64 `json:"size,omitempty"`
}

// A Tail is the part of a journal after the commands that are known to have been decided.
type Tail struct {
	From uint64 `json:"from"` // Seq of its first command
	Term uint64 `json:"term"` // of the last entry of the log from which it was read
}

// encode returns the two lines before the body.
func (h Header) encode() ([]byte, error) {
	h.Size = 0
	line, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if len(line) >= maxHeader {
		return nil, fmt.Errorf("header of %d bytes, more than %d", len(line), maxHeader)
	}
	return fmt.Appendf(nil, "%s%s\n%s\n", magic, version, line), nil
}

// readHeader returns the header and its encoded bytes.
func readHeader(r *bufio.Reader) (Header, []byte, error) {
	first, err := readLine(r, len(magic)+16, ErrFormat)
	if errors.Is(err, ErrFormat) && strings.HasPrefix(magic+version+"\n", string(first)) {
		err = ErrDamaged // the magic is a prefix of the right one
	}
	if err != nil {
		return Header{}, nil, err
	}
	if string(first) != magic+version+"\n" {
		return Header{}, nil, ErrFormat
	}
	second, err := readLine(r, maxHeader, ErrDamaged)
	if err != nil {
		return Header{}, nil, err
	}
	var h Header
	if err := json.Unmarshal(second, &h); err != nil {
		return Header{}, nil, ErrDamaged // the decoder's error could quote the input
	}
	h.Size = 0
	return h, append(first, second...), nil
}

// readLine reads a line of at most limit bytes, including its end. If there is none, it
// returns the bytes read and the error bad.
func readLine(r *bufio.Reader, limit int, bad error) ([]byte, error) {
	var line []byte
	for len(line) < limit {
		b, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			return line, bad
		}
		if err != nil {
			return nil, err
		}
		if line = append(line, b); b == '\n' {
			return line, nil
		}
	}
	return line, bad
}
