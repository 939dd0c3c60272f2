package cluster

import (
	"errors"
	"fmt"
	"math"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Bounds of a log entry.
const (
	maxCommands = 256       // commands in one log entry
	maxBatch    = 64 << 10  // bytes of a log entry that is written
	maxEntry    = 128 << 10 // bytes of a log entry that is still read
)

// A log entry starts with a byte that says what it is.
const (
	entryBatch      = 1 // then a CBOR array of commands
	entryCheckpoint = 2 // nothing; marks a range of the log to be verified
)

// A command in a batch is a CBOR array [kind, flags, id, at, body].
// body is a byte string, so that a command can be skipped without knowing it.
const (
	flagIgnorable = 1 << iota // a node that does not know the kind skips it
	flagAgain                 // Meta.Again
)

// encodedCommand is a command as it stands in the log.
type encodedCommand struct {
	kind  command.Kind
	flags uint8
	id    command.ID
	at    int64  // stamp of the leader, ms since the Unix epoch, not negative
	body  []byte // CBOR of the command; when decoded, part of the entry
}

func (c *encodedCommand) again() bool     { return c.flags&flagAgain != 0 }
func (c *encodedCommand) ignorable() bool { return c.flags&flagIgnorable != 0 }

// appendBatch starts an entry of n commands.
func appendBatch(b []byte, n int) []byte {
	b = append(b, entryBatch)
	return appendHead(b, majorArray, uint64(n))
}

// appendCommand adds one command to an entry. The bytes are core-deterministic
// CBOR; they are written by hand because this is the path of every command.
func appendCommand(b []byte, c *encodedCommand) []byte {
	b = appendHead(b, majorArray, 5)
	b = appendHead(b, majorUint, uint64(c.kind))
	b = appendHead(b, majorUint, uint64(c.flags))
	b = appendHead(b, majorBytes, uint64(len(c.id)))
	b = append(b, c.id[:]...)
	b = appendHead(b, majorUint, uint64(c.at))
	b = appendHead(b, majorBytes, uint64(len(c.body)))
	return append(b, c.body...)
}

// decodeBatch reads the commands of an entry into buf. It accepts exactly what
// appendBatch and appendCommand write: anything else is a damaged log or a
// newer node, and guessing would let nodes differ.
func decodeBatch(data []byte, buf []encodedCommand) ([]encodedCommand, error) {
	if len(data) == 0 {
		return nil, errors.New("empty log entry")
	}
	if data[0] != entryBatch {
		return nil, fmt.Errorf("log entry of unknown version %d", data[0])
	}
	if len(data) > maxEntry {
		return nil, fmt.Errorf("log entry of %d bytes, more than %d", len(data), maxEntry)
	}
	r := reader{b: data[1:]}
	n := r.head(majorArray, maxCommands)
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

// decodeCommand reads what appendCommand wrote, alone.
func decodeCommand(data []byte) (encodedCommand, error) {
	r := reader{b: data}
	c := r.command()
	if r.err == nil && len(r.b) > 0 {
		r.fail("bytes after the command")
	}
	return c, r.err
}

func (r *reader) command() (c encodedCommand) {
	if r.head(majorArray, 5) != 5 {
		r.fail("a command is not an array of five")
	}
	c.kind = command.Kind(r.head(majorUint, math.MaxUint16))
	c.flags = uint8(r.head(majorUint, flagIgnorable|flagAgain))
	if id := r.bytes(uint64(len(c.id))); len(id) == len(c.id) {
		c.id = command.ID(id)
	} else {
		r.fail("a command id is not 16 bytes")
	}
	c.at = int64(r.head(majorUint, math.MaxInt64))
	c.body = r.bytes(command.MaxBody)
	return c
}
