package machine

import (
	"errors"
	"fmt"
	"math"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Bounds of a log entry.
const (
	MaxCommands = 256       // commands in one log entry
	MaxBatch    = 64 << 10  // bytes of a log entry when it is written
	maxEntry    = 128 << 10 // bytes of a log entry that can be read
)

// The first byte of a log entry is its type.
const (
	EntryBatch      = 1 // followed by a CBOR array of commands
	entryCheckpoint = 2 // without content; marks a range of the log to be verified
)

// CheckpointEntry returns an entry that changes nothing and marks a range of the log to
// be verified.
func CheckpointEntry() []byte { return []byte{entryCheckpoint} }

// IsCheckpointEntry reports whether an entry is one of CheckpointEntry.
func IsCheckpointEntry(data []byte) bool { return len(data) > 0 && data[0] == entryCheckpoint }

// A command in a batch is a CBOR array [kind, flags, id, at, body]. body is a byte
// string, so that a command of an unknown kind can be skipped.
const (
	FlagIgnorable = 1 << iota // command.Ignorable: a node that does not know the kind skips it
	FlagAgain                 // Meta.Again
)

// Encoded is a command in the form of the log.
type Encoded struct {
	Kind  command.Kind
	Flags uint8
	ID    command.ID
	At    int64  // stamp of the leader, ms since the Unix epoch, not negative
	Body  []byte // CBOR of the command; when decoded, part of the entry
}

func (c *Encoded) Again() bool     { return c.Flags&FlagAgain != 0 }
func (c *Encoded) ignorable() bool { return c.Flags&FlagIgnorable != 0 }

// AppendBatch starts an entry of n commands.
func AppendBatch(b []byte, n int) []byte {
	b = append(b, EntryBatch)
	return appendHead(b, majorArray, uint64(n))
}

// AppendCommand appends one command to an entry. The bytes are core-deterministic CBOR,
// written without the CBOR package because every command is encoded here.
func AppendCommand(b []byte, c *Encoded) []byte {
	b = appendHead(b, majorArray, 5)
	b = appendHead(b, majorUint, uint64(c.Kind))
	b = appendHead(b, majorUint, uint64(c.Flags))
	b = appendHead(b, majorBytes, uint64(len(c.ID)))
	b = append(b, c.ID[:]...)
	b = appendHead(b, majorUint, uint64(c.At))
	b = appendHead(b, majorBytes, uint64(len(c.Body)))
	return append(b, c.Body...)
}

// DecodeBatch reads the commands of an entry into buf. It accepts exactly what
// AppendBatch and AppendCommand write: anything else is a damaged log, or from a newer
// node, and nodes could interpret it differently.
func DecodeBatch(data []byte, buf []Encoded) ([]Encoded, error) {
	if len(data) == 0 {
		return nil, errors.New("empty log entry")
	}
	if data[0] != EntryBatch {
		return nil, fmt.Errorf("log entry has unknown type %d", data[0])
	}
	if len(data) > maxEntry {
		return nil, fmt.Errorf("log entry has %d bytes, more than %d", len(data), maxEntry)
	}
	r := reader{b: data[1:]}
	n := r.head(majorArray, MaxCommands)
	for i := uint64(0); i < n && r.err == nil; i++ {
		buf = append(buf, r.command())
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail("bytes after the last command")
	}
	if r.err != nil {
		return nil, r.err
	}
	return buf, nil
}

// DecodeCommand reads a single command of AppendCommand.
func DecodeCommand(data []byte) (Encoded, error) {
	r := reader{b: data}
	c := r.command()
	if r.err == nil && len(r.b) > 0 {
		r.fail("bytes after the command")
	}
	return c, r.err
}

func (r *reader) command() (c Encoded) {
	if r.head(majorArray, 5) != 5 {
		r.fail("a command is not an array of five")
	}
	c.Kind = command.Kind(r.head(majorUint, math.MaxUint16))
	c.Flags = uint8(r.head(majorUint, FlagIgnorable|FlagAgain))
	if id := r.bytes(uint64(len(c.ID))); len(id) == len(c.ID) {
		c.ID = command.ID(id)
	} else {
		r.fail("a command id is not 16 bytes")
	}
	c.At = int64(r.head(majorUint, math.MaxInt64))
	c.Body = r.bytes(command.MaxBody)
	return c
}
