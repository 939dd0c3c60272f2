package ledger

import (
	"slices"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A BackupSchedule describes the scheduled backups of the cluster, in one row. One node
// makes them: the first that offered to. It keeps the task while it renews its offer;
// another node takes over when it has been silent for BackupLease, or when its backup
// failed.
type BackupSchedule struct {
	ID string `cbor:"1,keyasint"` // always backupScheduleID

	Node  string        `cbor:"2,keyasint,omitempty"` // id of the node that makes the backups; "" if none does now
	Name  string        `cbor:"3,keyasint,omitempty"` // name of Node
	Every time.Duration `cbor:"4,keyasint,omitempty"` // between two backups, as configured on the last Node; 0 if no backups are scheduled
	Since Time          `cbor:"5,keyasint,omitempty"` // when Every became greater than 0
	Seen  Time          `cbor:"6,keyasint,omitempty"` // when Node last renewed its offer
	Begun Time          `cbor:"7,keyasint,omitempty"` // when Node began the backup that is not recorded yet; 0 if there is none

	// Saved is the last backup that was verified completely after it was written; nil
	// before the first.
	Saved *SavedBackup `cbor:"8,keyasint,omitempty"`
	// Failed has the last failure of each node since its last success, until a backup of
	// another node succeeds a period or more later.
	Failed []FailedBackup `cbor:"9,keyasint,omitempty"`

	Last command.ID `cbor:"10,keyasint"`
}

// A SavedBackup is a verified backup.
type SavedBackup struct {
	Node  string `cbor:"1,keyasint"` // name of the node that has the file
	File  string `cbor:"2,keyasint"` // path on that node
	At    Time   `cbor:"3,keyasint"` // when the backup was begun
	Bytes int64  `cbor:"4,keyasint"` // size of the file
	Seq   uint64 `cbor:"5,keyasint"` // Meta.Seq of the last command in the backup
}

// A FailedBackup is a failure of a scheduled backup on one node.
type FailedBackup struct {
	Node   string        `cbor:"1,keyasint"` // id
	Name   string        `cbor:"2,keyasint"`
	At     Time          `cbor:"3,keyasint"`
	Reason BackupFailure `cbor:"4,keyasint"`
}

// A BackupFailure is a reason why a backup failed.
type BackupFailure string

// Reasons. The log of the node has the error.
const (
	BackupDiskFull    BackupFailure = "disk_full"    // the disk of the folder has no room
	BackupNotVerified BackupFailure = "not_verified" // the file could not be read back as it was written
	BackupNotWritten  BackupFailure = "not_written"  // any other reason
)

// BackupFailures are all reasons.
var BackupFailures = []BackupFailure{BackupDiskFull, BackupNotVerified, BackupNotWritten}

const backupScheduleID = "backups"

// BackupSchedule returns the row of the scheduled backups. It is never nil.
func (v View) BackupSchedule() *BackupSchedule {
	if s := first[BackupSchedule](v, TableBackups, indexID, backupScheduleID); s != nil {
		return s
	}
	return &BackupSchedule{ID: backupScheduleID}
}

// BackupLease returns how long the node that makes the backups may be silent before
// another one takes over. A node whose backup failed waits as long before it offers again.
func BackupLease(every time.Duration) time.Duration {
	return min(max(every/2, 15*time.Second), 10*time.Minute)
}

// Due returns when the next backup may begin.
func (s *BackupSchedule) Due() Time {
	due := s.Since
	if s.Saved != nil {
		due = s.Saved.At.Add(s.Every)
	}
	// A backup that was begun was interrupted, or is still being written.
	return max(due, s.Begun.Add(BackupLease(s.Every)))
}

// Overdue reports whether the last backup is older than it should be: twice the time
// between two of them.
func (s *BackupSchedule) Overdue(at Time) bool {
	last := s.Since
	if s.Saved != nil {
		last = max(last, s.Saved.At)
	}
	return s.Every > 0 && at > last.Add(2*s.Every)
}

// failedUntil returns until when a node may not offer, because its last backup failed.
func (s *BackupSchedule) failedUntil(node string, every time.Duration) Time {
	for _, f := range s.Failed {
		if f.Node == node {
			return f.At.Add(BackupLease(every))
		}
	}
	return 0
}

// withoutFailure returns the failures of other nodes that are still known.
func (s *BackupSchedule) withoutFailure(v View, node string) (others []FailedBackup) {
	for _, f := range s.Failed {
		if f.Node != node && v.Node(f.Node) != nil {
			others = append(others, f)
		}
	}
	return others
}

// recent returns the failures that were less than a period ago when the backup was begun
// that has succeeded now. Other nodes than the chosen one make no backups, so nothing else
// would ever show that a folder was repaired.
func (s *BackupSchedule) recent(all []FailedBackup) (recent []FailedBackup) {
	for _, f := range all {
		if s.Begun < f.At.Add(s.Every) {
			recent = append(recent, f)
		}
	}
	return recent
}

// ChooseBackupNode is a node's offer to make the scheduled backups, and its renewal. The
// node sends it for itself.
type ChooseBackupNode struct {
	Node string `cbor:"1,keyasint"` // id
	Name string `cbor:"2,keyasint,omitempty"`
	// Every is the time between two backups. 0 withdraws the offer.
	Every time.Duration `cbor:"3,keyasint,omitempty"`
	// Begin begins a backup if one is due. Outcome.Begun then identifies the backup in
	// RecordBackup. If none is due, the refusal's When is when one will be.
	Begin bool `cbor:"4,keyasint,omitempty"`
	// Renews renews the offer of the node that makes the backups: it is refused if that is
	// another one. A node that was away may not know yet that it was replaced.
	Renews bool `cbor:"5,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*ChooseBackupNode) Kind() command.Kind { return KindChooseBackupNode }

// Decide refuses an offer while another node makes the backups. The refusal's When is
// when its lease ends. State time decides, so that the wrong clock of a node begins no
// backup too early.
func (c *ChooseBackupNode) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v, now := At(txn), stateTime(m)
	s := *v.BackupSchedule()
	chosen := s.Node == c.Node
	switch {
	case c.Node == "":
		return badField("node", "is empty")
	case c.Every < 0:
		return badField("every", "is negative")
	case s.Last == m.ID:
		o := Outcome{ID: s.Node}
		if c.Begin {
			o.Begun = s.Begun
		}
		return accept(o)
	case c.Every == 0 && !chosen:
		return accept(Outcome{ID: s.Node})
	case c.Every == 0:
		s.Node, s.Name, s.Every, s.Since, s.Seen, s.Begun = "", "", 0, 0, 0, 0
		s.Last = m.ID
		return accept(Outcome{}, put(TableBackups, &s))
	}
	if !chosen {
		if c.Renews {
			return deny(WrongState)
		}
		if free := max(s.failedUntil(c.Node, c.Every), s.Seen.Add(BackupLease(s.Every))); now < free {
			return denyUntil(WrongState, free)
		}
		s.Node, s.Begun = c.Node, 0
	}
	if s.Every == 0 {
		s.Since = now
	}
	s.Name, s.Every, s.Seen, s.Last = c.Name, c.Every, now, m.ID
	o := Outcome{ID: s.Node}
	if c.Begin && chosen {
		if due := s.Due(); now < due {
			return denyUntil(WrongState, due)
		}
		s.Begun, o.Begun = now, now
	}
	return accept(o, put(TableBackups, &s))
}

func denyUntil(cause Cause, when Time) command.Decision {
	d := deny(cause)
	outcome(d).Refusal.When = when
	return d
}

// RecordBackup records the result of a scheduled backup. The node that made it sends it.
type RecordBackup struct {
	Node  string `cbor:"1,keyasint"` // id
	Begun Time   `cbor:"2,keyasint"` // BackupSchedule.Begun
	// File, Bytes and Seq describe a backup that was verified completely after it was
	// written: see SavedBackup.
	File  string `cbor:"3,keyasint,omitempty"`
	Bytes int64  `cbor:"4,keyasint,omitempty"`
	Seq   uint64 `cbor:"5,keyasint,omitempty"`
	// Failure is why there is no such backup, "" if there is one. Another node may take
	// over at once.
	Failure BackupFailure `cbor:"6,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*RecordBackup) Kind() command.Kind { return KindRecordBackup }

// Decide refuses the result of another backup than the one that was begun last, such as
// one of a node that was replaced meanwhile.
func (c *RecordBackup) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	s := *v.BackupSchedule()
	switch {
	case s.Last == m.ID:
		return accept(Outcome{ID: c.Node})
	case s.Node != c.Node || s.Begun == 0 || s.Begun != c.Begun:
		return deny(WrongState)
	case c.Failure == "" && (c.File == "" || c.Bytes <= 0):
		return badField("file", "is not described")
	case c.Failure != "" && !slices.Contains(BackupFailures, c.Failure):
		return badField("failure", "is not known")
	}
	s.Failed = s.withoutFailure(v, c.Node)
	if c.Failure == "" {
		s.Failed = s.recent(s.Failed)
		s.Saved = &SavedBackup{Node: s.Name, File: c.File, At: s.Begun, Bytes: c.Bytes, Seq: c.Seq}
	} else {
		s.Failed = append(s.Failed, FailedBackup{Node: c.Node, Name: s.Name, At: stateTime(m), Reason: c.Failure})
		s.Node, s.Name, s.Seen = "", "", 0
	}
	s.Begun, s.Last = 0, m.ID
	return accept(Outcome{ID: c.Node}, put(TableBackups, &s))
}

// forgetBackups returns the change that removes the schedule of an earlier timeline. Its
// backups lack what the new timeline decides, so the first backup of that one is due.
func (v View) forgetBackups() []command.Change {
	if s := first[BackupSchedule](v, TableBackups, indexID, backupScheduleID); s != nil {
		return []command.Change{remove(TableBackups, s)}
	}
	return nil
}
