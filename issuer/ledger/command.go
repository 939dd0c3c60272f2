package ledger

import (
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Time is state time, in milliseconds since the Unix epoch. The leader assigns it to each
// command; it never decreases.
type Time int64

// Unix returns t in whole seconds.
func (t Time) Unix() int64 { return int64(t) / 1000 }

// Add returns t plus d.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Milliseconds()) }

// day returns the number of days (UTC) since the Unix epoch.
func (t Time) day() int32 { return int32(t.Unix() / daySeconds) }

const daySeconds = 24 * 60 * 60

// DayTime returns the beginning of a day, given as the number of days (UTC) since the Unix epoch.
func DayTime(day int32) Time { return Time(int64(day) * daySeconds * 1000) }

// Std returns t as a time.Time in UTC.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

// stateTime returns the state time of a command.
func stateTime(m command.Meta) Time { return Time(m.At) }

// Decide decides a command on the view without proposing it.
func (v View) Decide(c command.Command, m command.Meta) Outcome { return outcome(c.Decide(v.txn, m)) }

// outcome returns the Outcome of a decision of this package.
func outcome(d command.Decision) Outcome { return d.Outcome.(Outcome) }

// An Outcome is the answer to a command. If the command was not accepted, either Refusal
// or Unknown is set.
type Outcome struct {
	Refusal *Refusal `cbor:"1,keyasint,omitempty"`
	Unknown bool     `cbor:"2,keyasint,omitempty"` // it can't be determined whether an earlier proposal was accepted: the client must retry
	Issued  *Issued  `cbor:"3,keyasint,omitempty"` // for Allow, Exchange and Refresh
	ID      string   `cbor:"4,keyasint,omitempty"` // id of the row that was created or changed
	Count   int      `cbor:"5,keyasint,omitempty"` // number of rows that the command changed, if it can change several
	Begun   Time     `cbor:"6,keyasint,omitempty"` // for ChooseBackupNode: BackupSchedule.Begun of the backup that it began
}

// Issued describes the tokens to mint. The decision names the keys, so that a node that
// lags can't mint with a dropped one.
type Issued struct {
	Grant         GrantID `cbor:"1,keyasint"`
	Client        string  `cbor:"2,keyasint"` // client_id
	User          string  `cbor:"3,keyasint"`
	Scope         string  `cbor:"4,keyasint,omitempty"` // of the access token, single spaces
	Legacy        bool    `cbor:"5,keyasint,omitempty"`
	Generation    uint32  `cbor:"6,keyasint,omitempty"` // of the credential to mint: the generation that is now due
	CredentialKey uint32  `cbor:"7,keyasint"`
	SigningKey    string  `cbor:"8,keyasint,omitempty"` // "" for Allow, which mints no access token
	At            Time    `cbor:"9,keyasint"`           // iat
	Retry         bool    `cbor:"10,keyasint,omitempty"`
	Shared        bool    `cbor:"12,keyasint,omitempty"` // Grant.Shared, at the first retry of a generation
	RedirectURI   string  `cbor:"11,keyasint,omitempty"` // for Allow: where the code is sent
	Audience      string  `cbor:"13,keyasint,omitempty"` // aud of the access token; "" for the cluster's
}

func accept(o Outcome, changes ...command.Change) command.Decision {
	return command.Decision{Outcome: o, Changes: changes}
}

func put(table string, row any) command.Change { return command.Change{Table: table, Row: row} }

func remove(table string, row any) command.Change {
	return command.Change{Table: table, Row: row, Delete: true}
}
