package ledger

import "time"

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

// CommandID is 128 random bits chosen by the proposer.
type CommandID [16]byte

// Meta is what the log says of a command beside its body.
type Meta struct {
	ID    CommandID
	Seq   uint64 // position among all commands ever applied: a total order, finer than At
	At    Time
	Again bool   // a re-proposal of a command whose fate was unknown: it must never revoke
	Level uint32 // feature level of the cluster
	// Halted is for how long, in milliseconds and summed up to At, the cluster could
	// decide no command: there was no leader with a majority, or no node ran.
	Halted int64
}

// A Command is one decision. Kinds are appended, never renumbered and never
// given a new meaning, so that an old log replays for ever.
type Command interface {
	Kind() Kind
	// Decide reads v and says what happens. It is deterministic, writes
	// nothing and keeps nothing of v.
	Decide(v View, m Meta) Decision
}

// A Decision says what the caller is told and what changes. A refusal is a
// value: it is told, and it changes nothing but where the rules say so.
type Decision struct {
	Outcome Outcome
	Changes []Change // whole rows; none: no command enters the log
	// ConfirmFresh marks a refusal that would hurt a client whose credential is
	// genuine: it is decided again on a fresh view before it is answered, so
	// that a leader that was deposed without knowing signs nobody out.
	ConfirmFresh bool
	// Authenticated reports that the client authenticated by a secret. Requests without such
	// a proof share a bounded number of fresh views, so that strangers can't load the
	// cluster with them.
	Authenticated bool
	// ReuseDetected marks changes that are made because a credential was used that was
	// used before: see cluster.Decision.
	ReuseDetected bool
}

// A Change writes or deletes one row.
type Change struct {
	Table  string
	Row    any
	Delete bool
}

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

func accept(o Outcome, changes ...Change) Decision {
	return Decision{Outcome: o, Changes: changes}
}

func put(table string, row any) Change    { return Change{Table: table, Row: row} }
func remove(table string, row any) Change { return Change{Table: table, Row: row, Delete: true} }
