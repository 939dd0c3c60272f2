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

// What a file can hold.
const (
	KindState   = "state"   // the whole state of a cluster
	KindJournal = "journal" // what a node's journal has
)

var (
	// ErrFormat says that a file is not a backup, or of a version that this
	// program does not know.
	ErrFormat = errors.New("not a backup file that this program knows")

	// ErrDamaged says that a file is not as it was written: changed, cut or
	// longer.
	ErrDamaged = errors.New("the file is damaged: it was changed, or cut short; take another copy of it")
)

// Header is the part of the file that is not sealed. It says what the body is
// and which key opens it. Readers skip fields they do not know, so that later
// versions may add some.
type Header struct {
	Kind       string            `json:"kind"`
	Cluster    string            `json:"cluster"`             // id of the cluster
	Node       string            `json:"node,omitempty"`      // name of the node that wrote it
	Taken      time.Time         `json:"taken"`               // by the clock of that node
	StateTime  time.Time         `json:"state_time,omitzero"` // of the last command in it
	From       uint64            `json:"from,omitempty"`      // of a journal: first Seq that it covers
	Seq        uint64            `json:"seq"`                 // of the last command in it
	LogIndex   uint64            `json:"log_index,omitempty"`
	Version    string            `json:"version"` // of the program
	Level      uint32            `json:"level"`   // feature level of the cluster
	ClusterKey string            `json:"cluster_key"`
	Timelines  []Timeline        `json:"timelines,omitempty"` // the timelines that led to the state in the backup, its own last; absent if the cluster had none yet
	Counts     map[string]uint64 `json:"counts,omitempty"`    // rows of each table, or what else is in the body

	// Tail is what a journal has from the end of a log that does not say whether
	// these commands were decided; nil if there is none.
	Tail *Tail `json:"tail,omitempty"`
	// Incomplete says, for people, why a journal may end too early; "" if it does not.
	Incomplete string `json:"incomplete,omitempty"`

	// Size is that of the whole file in bytes, when Inspect read it. It is not
	// written.
	Size int64 `json:"size,omitempty"`
}

// A Tail is the part of a journal after the commands that are known to be decided.
type Tail struct {
	From uint64 `json:"from"` // Seq of its first command
	Term uint64 `json:"term"` // of the last entry of the log that it was read from
}

// encode returns the two lines in front of the body.
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

// readHeader returns the header and the bytes it was read from.
func readHeader(r *bufio.Reader) (Header, []byte, error) {
	first, err := readLine(r, len(magic)+16, ErrFormat)
	if errors.Is(err, ErrFormat) && strings.HasPrefix(magic+version+"\n", string(first)) {
		err = ErrDamaged // nothing is wrong with what there is of it
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
		return Header{}, nil, ErrDamaged // its own text could quote what it met
	}
	h.Size = 0
	return h, append(first, second...), nil
}

// readLine reads a line of at most limit bytes with its end. Where there is
// none the error is bad, with what there is.
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
