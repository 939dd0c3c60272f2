package ledger

import (
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Time is milliseconds since the Unix epoch. It is state time: the leader
// stamps it, and it never runs back.
type Time int64

// Unix is t in whole seconds.
func (t Time) Unix() int64 { return int64(t) / 1000 }

// Add is t moved on by d.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Milliseconds()) }

// day numbers the days (UTC) since the Unix epoch.
func (t Time) day() int32 { return int32(t.Unix() / (24 * 60 * 60)) }

// Std is t for printing.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

// stateTime is the state time of a command.
func stateTime(m command.Meta) Time { return Time(m.At) }

// Decide decides a command on the view without proposing it.
func (v View) Decide(c command.Command, m command.Meta) Outcome { return outcome(c.Decide(v.txn, m)) }

// outcome is that of a decision of this package.
func outcome(d command.Decision) Outcome { return d.Outcome.(Outcome) }

// An Outcome is the answer to a command. Exactly one of Refusal and Unknown
// is set where the command was not accepted.
type Outcome struct {
	Refusal *Refusal `cbor:"1,keyasint,omitempty"`
	Unknown bool     `cbor:"2,keyasint,omitempty"` // whether an earlier proposal was accepted can't be told any more: ask again
	Issued  *Issued  `cbor:"3,keyasint,omitempty"` // of Allow, Exchange and Refresh
	ID      string   `cbor:"4,keyasint,omitempty"` // of the row that was created or changed
	Count   int      `cbor:"5,keyasint,omitempty"` // how many rows a command over several of them touched
}

// Issued names what to mint. The keys are named by the decision, so that a
// node that lags can't mint with one that was dropped.
type Issued struct {
	Grant         GrantID `cbor:"1,keyasint"`
	Client        string  `cbor:"2,keyasint"`
	User          string  `cbor:"3,keyasint"`
	Scope         string  `cbor:"4,keyasint,omitempty"` // of the access token; single spaces
	Legacy        bool    `cbor:"5,keyasint,omitempty"`
	Generation    uint32  `cbor:"6,keyasint,omitempty"` // of the credential to mint: the one now due
	CredentialKey uint32  `cbor:"7,keyasint"`
	SigningKey    string  `cbor:"8,keyasint,omitempty"` // "" for Allow, which mints no access token
	At            Time    `cbor:"9,keyasint"`           // iat
	Retry         bool    `cbor:"10,keyasint,omitempty"`
	Shared        bool    `cbor:"12,keyasint,omitempty"` // Grant.Shared, at the first Retry of a generation
	RedirectURI   string  `cbor:"11,keyasint,omitempty"` // of Allow: where the code goes
}

func accept(o Outcome, changes ...command.Change) command.Decision {
	return command.Decision{Outcome: o, Changes: changes}
}

func put(table string, row any) command.Change { return command.Change{Table: table, Row: row} }

func remove(table string, row any) command.Change {
	return command.Change{Table: table, Row: row, Delete: true}
}
