package join

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// Request is what a node that joins, or a member, sends.
type Request struct {
	Secret  []byte `cbor:"1,keyasint"`
	ID      string `cbor:"2,keyasint"`
	Address string `cbor:"3,keyasint"`
	Version string `cbor:"4,keyasint"`
	Level   uint32 `cbor:"5,keyasint"`
	// CheckMembership asks whether the key is a member's, and for nothing else.
	CheckMembership bool `cbor:"6,keyasint,omitempty"`
	// Name is Options.Name.
	Name string `cbor:"7,keyasint,omitempty"`
	// CheckLeader asks, with CheckMembership, whether there is a leader too.
	CheckLeader bool `cbor:"8,keyasint,omitempty"`
}

// Answer is what a member replies.
type Answer struct {
	Refused     string             `cbor:"1,keyasint,omitempty"`
	Again       bool               `cbor:"2,keyasint,omitempty"` // nothing is decided: ask again
	Name        string             `cbor:"3,keyasint,omitempty"`
	Seq         uint64             `cbor:"4,keyasint,omitempty"`
	Members     []member.Member    `cbor:"5,keyasint,omitempty"`
	Authorities []member.Authority `cbor:"6,keyasint,omitempty"`
	Secret      []byte             `cbor:"7,keyasint,omitempty"`
	NotMember   bool               `cbor:"8,keyasint,omitempty"`  // the key is no member's, for CheckMembership
	HasLeader   bool               `cbor:"9,keyasint,omitempty"`  // a leader has committed something since the question
	Code        string             `cbor:"10,keyasint,omitempty"` // of the error that is the reason of Refused; see package errcode
}

// Refuse returns the answer that refuses a request for the reason err.
func Refuse(err error) Answer { return Answer{Refused: err.Error(), Code: errcode.Of(err)} }

// Timeout bounds one request and its answer.
const Timeout = 15 * time.Second

const maxMessage = 256 << 10

// Write sends a Request or an Answer.
func Write(c io.Writer, v any) error {
	b, err := machine.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = c.Write(b)
	return err
}

// Read receives a Request or an Answer.
func Read(c io.Reader, into any) error { return machine.Read(c, maxMessage, into) }

// Ask sends a request over c and reads the answer, until the deadline of ctx.
func Ask(ctx context.Context, c net.Conn, q Request) (a Answer, err error) {
	deadline := time.Now().Add(Timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	_ = c.SetDeadline(deadline)
	if err := Write(c, q); err != nil {
		return a, err
	}
	err = Read(c, &a)
	return a, err
}
