package admin

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/status"
)

// A Cluster implements the operations on nodes. An error with the method Refusal() string
// is a refusal, in words for operators. An oauth.ErrUnavailable reports that nothing can
// be decided now.
type Cluster interface {
	// Status returns what this node knows. The implementation leaves Healthy, Problems and Keys
	// empty.
	Status(ctx context.Context) ClusterStatus
	// Invite returns a token with which a node with that name joins. replaces may name a
	// member that is removed once the new node has become a voter.
	Invite(ctx context.Context, name, replaces string, lifetime time.Duration) (token Plain, expires time.Time, err error)
	// Invitations returns the usable tokens. stale reports that the list may be out of date.
	Invitations(ctx context.Context) (open []OpenInvitation, stale bool)
	// Withdraw invalidates the token for a node with that name.
	Withdraw(ctx context.Context, name string) error
	// Remove removes a member. It is refused if the remaining voters would have no reachable
	// majority; with force it is refused only after waiting for one.
	Remove(ctx context.Context, name string, force bool) error
	// TransferLeadership makes a member the leader; if to is "", the member with the
	// longest log.
	TransferLeadership(ctx context.Context, to string) (Transferred, error)
	// Checksum returns the checksum of this node's whole state, and the last applied command.
	Checksum() (sum [32]byte, applied uint64)
	// AcceptClock makes this node trust its clock, after it jumped or failed the check at
	// the node's start.
	AcceptClock() error
	// RotateAuthority changes the authority of the nodes' certificates. It waits for a
	// while until the change is done; otherwise the change continues by itself.
	RotateAuthority(ctx context.Context) (AuthorityChange, error)
}

// A ClusterStatus is the cluster as seen by one node. Implementations of Cluster leave
// Tolerance empty too.
type ClusterStatus struct {
	Name     string   `json:"name"` // of the node that was asked
	ID       string   `json:"id"`
	Healthy  bool     `json:"healthy"`  // Problems is empty
	Problems []string `json:"problems"` // in words for operators
	Leader   string   `json:"leader"`   // name; "" if none is known
	Term     uint64   `json:"term"`
	Level    uint32   `json:"level"` // feature level in use
	// StateTime is the time of the last command that the node has applied, absent
	// before the first. StateAhead is how far it is ahead of the clocks of a majority;
	// it is negative if state time is behind.
	StateTime  time.Time `json:"state_time,omitzero"`
	StateAhead int64     `json:"state_ahead_ms"`
	Tolerance
	Nodes []status.Node `json:"nodes"`
	Keys  []ClusterKey  `json:"keys"`
	// Isolated, Removed and Duplicate describe the node that responds; they are "" if they
	// don't apply. Isolated: its disk is not writable, so it has closed its connections
	// to the other nodes. Removed: it is not a member of the cluster any more, and knows
	// nothing of it. Duplicate: another process runs as the same node, so it has closed its
	// connections.
	Isolated  string `json:"isolated,omitempty"`
	Removed   string `json:"removed,omitempty"`
	Duplicate string `json:"duplicate_node,omitempty"`
	// MostMembers is how many nodes have been members at once; 0 if that is not known.
	MostMembers int `json:"most_members,omitempty"`

	// Backup describes the scheduled backups; nil if there never were any.
	Backup *BackupStatus `json:"backup,omitempty"`
	// Attention has what should be looked at although the cluster is healthy, in words for
	// operators.
	Attention []string `json:"attention,omitempty"`

	// Unfinished are changes that have been waiting for too long, in words for operators.
	Unfinished []string `json:"-"`
}

// A BackupStatus describes the scheduled backups of the cluster.
type BackupStatus struct {
	Node    string         `json:"node"`           // name of the node that makes them; "" if none does now
	Every   int64          `json:"every_seconds"`  // between two of them; 0 if none are scheduled any more
	Since   time.Time      `json:"since,omitzero"` // when they were scheduled
	Next    time.Time      `json:"next,omitzero"`  // when the next may begin
	Last    *SavedBackup   `json:"last,omitempty"` // the last one that was verified; nil before the first
	Failed  []FailedBackup `json:"failed"`         // the last failure of each node since its last success
	Overdue bool           `json:"overdue"`        // the last one is older than twice Every
}

// A SavedBackup is a scheduled backup that was read back and verified after it was written.
type SavedBackup struct {
	Node  string    `json:"node"` // name of the node that has it
	File  string    `json:"file"` // path on that node
	At    time.Time `json:"at"`   // when it was begun
	Bytes int64     `json:"bytes"`
	Seq   uint64    `json:"seq"` // of the last command in it
}

// A FailedBackup is a failure of a scheduled backup.
type FailedBackup struct {
	Node   string    `json:"node"` // name
	At     time.Time `json:"at"`
	Reason string    `json:"reason"` // disk_full, not_verified or not_written
}

// A ClusterKey is a summary of one key of the keyring.
type ClusterKey struct {
	ID       string    `json:"id"`
	Purpose  string    `json:"purpose"`
	State    string    `json:"state"`
	NextStep time.Time `json:"next_step,omitzero"` // not before then
}

// NewCluster requests a cluster of one node. Both addresses are origins; that of the
// pages defaults to that of the API.
type NewCluster struct {
	PublicURL string `json:"public_url"` // of the API, and the issuer
	AppURL    string `json:"app_url,omitempty"`
	PlainHTTP bool   `json:"plain_http,omitempty"` // see ledger.Settings
}

// A CreatedCluster is the created cluster, with all defaults filled in.
type CreatedCluster struct {
	PublicURL string `json:"public_url"`
	AppURL    string `json:"app_url"`
	PlainHTTP bool   `json:"plain_http,omitempty"`
}

// An Invitation requests a token for a node that does not exist yet.
type Invitation struct {
	Name     string        `json:"name"`
	Lifetime time.Duration `json:"lifetime"` // nanoseconds
}

// A Replacement requests a token for a node that replaces a member.
type Replacement struct {
	Old      string        `json:"old"` // name
	Name     string        `json:"name"`
	Lifetime time.Duration `json:"lifetime"` // nanoseconds
}

// Invited has the token, which is shown only once.
type Invited struct {
	Token   Plain     `json:"token"`
	Name    string    `json:"name"`
	Expires time.Time `json:"expires"`
	// Ended reports that an earlier, unused join token for a node with this name is no
	// longer valid.
	Ended bool `json:"ended,omitempty"`
}

// An InvitationQuery requests the usable tokens.
type InvitationQuery struct{}

// An OpenInvitation is an unused token. Its text is never shown again.
type OpenInvitation struct {
	Name     string    `json:"name"`               // of the node that may join
	Replaces string    `json:"replaces,omitempty"` // name of the member that is then removed
	Expires  time.Time `json:"expires"`
}

// An InvitationList is ordered by name.
type InvitationList struct {
	Invitations []OpenInvitation `json:"invitations"`
}

// A Withdrawal invalidates a token.
type Withdrawal struct {
	Name string `json:"name"` // of the node that could have joined
}

// A StatusQuery requests the status of the cluster.
type StatusQuery struct{}

// A ChecksumQuery requests the checksum of a node.
type ChecksumQuery struct{}

// A ClusterChecksum is the checksum of one node's whole state. It is the same for all
// nodes that have applied the same commands.
type ClusterChecksum struct {
	Name     string `json:"name"`
	Applied  uint64 `json:"applied"`
	Checksum string `json:"checksum"` // SHA-256, hexadecimal
}

// A Transfer requests that another node leads.
type Transfer struct {
	To string `json:"to,omitempty"` // name; "" means the member with the longest log
}

// Transferred names the leader.
type Transferred struct {
	ID      string `json:"id"`                // name; "" if it is not known yet
	Already bool   `json:"already,omitempty"` // the node was the leader before
}

// A Removal requests that a member is removed.
type Removal struct {
	Name  string `json:"name"`
	Force bool   `json:"force,omitempty"`
}

// A ClockAcceptance requests that this node trusts its clock.
type ClockAcceptance struct{}

// A SaveQuery requests a backup.
type SaveQuery struct{}

// RestoreOptions are the options of a restore.
type RestoreOptions struct {
	AcceptGap bool     // restore although the journals have a gap
	DryRun    bool     // only report what would happen
	Journals  [][]byte // journals of nodes since the backup
	Keys      []Plain  // texts of files with cluster keys under which only the given files are sealed
}

// A RestoreReport describes what a restore did, or would do.
type RestoreReport struct {
	DryRun     bool              `json:"dry_run"`
	Cluster    string            `json:"cluster"`               // id of the cluster in the backup
	Taken      time.Time         `json:"taken"`                 // by the clock of the node that wrote the backup
	StateTime  time.Time         `json:"state_time,omitzero"`   // of the last command in the backup
	Seq        uint64            `json:"seq"`                   // of the last command in the backup
	Journal    uint64            `json:"journal_seq,omitempty"` // of the last command in the journals
	Covered    []JournalSpan     `json:"covered"`               // what the journals cover, in order
	KnownUntil time.Time         `json:"known_until"`           // later revocations are undone
	Counts     map[string]uint64 `json:"counts,omitempty"`      // rows of each table of the backup
	Changes    []string          `json:"changes"`               // what the journals changed, in words
	Skipped    []SkippedChanges  `json:"skipped"`               // effects of the journals that changed nothing
	NotDone    []string          `json:"not_done"`              // those of them that the operator should know, in words
	Warnings   []string          `json:"warnings"`              // what could not be checked, in words
	Gap        string            `json:"gap,omitempty"`         // what is lost and was accepted to be lost, in words
}

// A JournalSpan is a range of commands that a journal covers without a gap.
type JournalSpan struct {
	From   uint64    `json:"from"`
	To     uint64    `json:"to"`
	Begins time.Time `json:"begins,omitzero"`
	Ends   time.Time `json:"ends"`
}

// SkippedChanges counts effects of one kind on rows that the backup does not have, or
// that have the effect already.
type SkippedChanges struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}
