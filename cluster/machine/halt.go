package machine

import (
	"bytes"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// KindHalt is the last of the reserved kinds that are in use.
const KindHalt = ReservedKinds + 9

// mostHalt is the most that counts of one halt. Time beyond it does not extend lifetimes.
const mostHalt = 24 * time.Hour

// Halt adds the length of a halt to the sum of all halts.
type Halt struct {
	Length int64 `cbor:"1,keyasint"` // ms
}

// Kind implements command.Command.
func (*Halt) Kind() command.Kind { return KindHalt }

// Decide writes the status row, from which State takes the sum.
func (c *Halt) Decide(txn *memdb.Txn, _ command.Meta) command.Decision {
	s := ReadStatus(txn)
	s.Halted += min(max(c.Length, 0), mostHalt.Milliseconds())
	return command.Decision{Changes: []command.Change{{Table: StatusTable, Row: &s}}}
}

// HaltEntry encodes a Halt as a log entry. at, in milliseconds since the Unix
// epoch, is its stamp, and length is in milliseconds.
func (c *State) HaltEntry(id command.ID, at, length int64) ([]byte, error) {
	var buf bytes.Buffer
	e, err := c.Encode(&Halt{Length: length}, id, false, &buf)
	if err != nil {
		return nil, err
	}
	e.At = at
	return AppendCommand(AppendBatch(nil, 1), &e), nil
}
