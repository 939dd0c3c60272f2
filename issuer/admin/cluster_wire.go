package admin

import (
	"context"
	"time"
)

// A Cluster is what operators do with the nodes as a whole. An error of it that
// has the method Refusal() string is a rule that says no, in words for people;
// one that is oauth.ErrUnavailable says that nothing can be decided now.
type Cluster interface {
	// Status is what this node sees. Healthy, Problems and Keys are not its
	// to fill in.
	Status(ctx context.Context) ClusterStatus
	// Invite makes a token with which a node of that name joins. With replaces,
	// the name of a member, that one goes when the new one has become a voter.
	Invite(ctx context.Context, name, replaces string, lifetime time.Duration) (token Plain, expires time.Time, err error)
	// Invitations are the tokens that can be used, and whether there may be
	// others by now.
	Invitations(ctx context.Context) (open []OpenInvitation, stale bool)
	// Withdraw makes the token for a node of that name worthless.
	Withdraw(ctx context.Context, name string) error
	// Remove takes a member out. It is refused where the rest would have no
	// majority that can be reached, if forced only after a wait for one.
	Remove(ctx context.Context, name string, force bool) error
	// TransferLeadership makes a member the leader, or with "" the one that is
	// furthest.
	TransferLeadership(ctx context.Context, to string) (Transferred, error)
	// Checksum is of the whole state of this node, as of an applied command.
	Checksum() (sum [32]byte, applied uint64)
	// AcceptClock makes this node trust its clock, after it jumped or failed the check
	// at the node's start.
	AcceptClock() error
	// RotateAuthority changes who vouches for the nodes' certificates. It waits
	// for a while for that to be done, and it goes on by itself after that.
	RotateAuthority(ctx context.Context) (AuthorityChange, error)
}

// Roles and states of a node that decide on health.
const (
	RoleVoter        = "voter"
	StateLeader      = "leader"
	StateUnreachable = "unreachable"
)

// A ClusterStatus is the cluster as one node sees it. Tolerance is not a
// Cluster's to fill in either.
type ClusterStatus struct {
	Name     string   `json:"name"` // of the node that was asked
	ID       string   `json:"id"`
	Healthy  bool     `json:"healthy"`  // there are no problems
	Problems []string `json:"problems"` // in words for people
	Leader   string   `json:"leader"`   // name, "" where none is known
	Term     uint64   `json:"term"`
	Level    uint32   `json:"level"` // feature level in use
	// StateTime is the time of the last command that the node has applied, absent
	// before the first. StateAhead is how far it is ahead of the clocks of a majority;
	// it is negative if state time is behind.
	StateTime  time.Time `json:"state_time,omitzero"`
	StateAhead int64     `json:"state_ahead_ms"`
	Tolerance
	Nodes []ClusterNode `json:"nodes"`
	Keys  []ClusterKey  `json:"keys"`
	// Isolated, Removed and Twin are texts about the node that answers, "" where they
	// don't apply. Isolated: its disk takes no writes, so it has cut its connections
	// to the other nodes. Removed: it is no member of the cluster any more, and knows
	// nothing of it. Twin: another process runs as the same node, so it has cut its
	// connections.
	Isolated  string `json:"isolated,omitempty"`
	Removed   string `json:"removed,omitempty"`
	Duplicate string `json:"duplicate_node,omitempty"`

	// Unfinished are changes that were begun and wait for somebody for too long,
	// in words for people.
	Unfinished []string `json:"-"`
}

// A ClusterNode is one node of a ClusterStatus.
type ClusterNode struct {
	Name               string    `json:"name"`
	ID                 string    `json:"id"`
	Address            string    `json:"address"`
	Role               string    `json:"role"`  // voter or nonvoter
	State              string    `json:"state"` // leader, follower, candidate or unreachable
	Term               uint64    `json:"term"`
	Applied            uint64    `json:"applied"`
	Last               uint64    `json:"last"`
	Lag                uint64    `json:"lag"` // entries behind the furthest node
	Version            string    `json:"version"`
	Level              uint32    `json:"level"`
	ClockOffset        int64     `json:"clock_offset_ms"` // against the node that was asked
	CertificateExpires time.Time `json:"certificate_expires,omitzero"`
	DiskFree           uint64    `json:"disk_free"`         // bytes; 0 if unknown
	Follows            string    `json:"follows,omitempty"` // the name of the leader that the node reports
	Error              string    `json:"error"`             // why it can't be reached, or what is wrong with it

	// ClockUntrusted reports that the node's clock jumped or is not believed, or that its
	// certificate is not valid by the clock of the node that was asked.
	ClockUntrusted bool `json:"-"`

	// HungUp reports that the node could not be asked although its process accepts
	// connections.
	HungUp bool `json:"-"`

	// DiskLow is how many bytes should be free there; 0 stands for the least
	// that a node of any size wants.
	DiskLow uint64 `json:"-"`
}

// A ClusterKey is one key of the keyring, in short.
type ClusterKey struct {
	ID       string    `json:"id"`
	Purpose  string    `json:"purpose"`
	State    string    `json:"state"`
	NextStep time.Time `json:"next_step,omitzero"` // not before then
}

// NewCluster asks for a cluster of one. Both addresses are origins; the one of
// the pages is that of the API where it is absent.
type NewCluster struct {
	PublicURL string `json:"public_url"` // of the API, and the issuer
	AppURL    string `json:"app_url,omitempty"`
	PlainHTTP bool   `json:"plain_http,omitempty"` // see ledger.Settings
}

// CreatedCluster is the cluster that was asked for, with nothing absent.
type CreatedCluster struct {
	PublicURL string `json:"public_url"`
	AppURL    string `json:"app_url"`
	PlainHTTP bool   `json:"plain_http,omitempty"`
}

// An Invitation asks for a token for a node that does not exist yet.
type Invitation struct {
	Name     string        `json:"name"`
	Lifetime time.Duration `json:"lifetime"` // nanoseconds
}

// A Replacement asks for a token for the node that takes a member's place.
type Replacement struct {
	Old      string        `json:"old"` // name
	Name     string        `json:"name"`
	Lifetime time.Duration `json:"lifetime"` // nanoseconds
}

// Invited has the token, which is shown this once.
type Invited struct {
	Token   Plain     `json:"token"`
	Name    string    `json:"name"`
	Expires time.Time `json:"expires"`
	// Ended reports that an earlier join token for a node of this name, which was not
	// used yet, is no longer valid.
	Ended bool `json:"ended,omitempty"`
}

// An InvitationQuery asks for the tokens that can be used.
type InvitationQuery struct{}

// An OpenInvitation is a token that nobody has used yet. It is shown to nobody
// again.
type OpenInvitation struct {
	Name     string    `json:"name"`               // of the node it is for
	Replaces string    `json:"replaces,omitempty"` // name of the member that goes then
	Expires  time.Time `json:"expires"`
}

// An InvitationList has all of them, in order of name.
type InvitationList struct {
	Invitations []OpenInvitation `json:"invitations"`
}

// A Withdrawal makes a token worthless.
type Withdrawal struct {
	Name string `json:"name"` // of the node it is for
}

// A StatusQuery asks how the cluster is.
type StatusQuery struct{}

// A ChecksumQuery asks for the checksum of a node.
type ChecksumQuery struct{}

// A ClusterChecksum is that of the whole state of one node. Two nodes that have
// applied the same commands have the same.
type ClusterChecksum struct {
	Name     string `json:"name"`
	Applied  uint64 `json:"applied"`
	Checksum string `json:"checksum"` // SHA-256, hexadecimal
}

// A Transfer asks that another node leads.
type Transfer struct {
	To string `json:"to,omitempty"` // name; "" for the one that is furthest
}

// Transferred says who leads.
type Transferred struct {
	ID      string `json:"id"`                // name; "" where that is not known yet
	Already bool   `json:"already,omitempty"` // it led before
}

// A Removal asks that a member goes.
type Removal struct {
	Name  string `json:"name"`
	Force bool   `json:"force,omitempty"`
}

// An Acceptance asks that this node goes on with the clock as it is.
type ClockAcceptance struct{}

// A SaveQuery asks for a backup.
type SaveQuery struct{}

// RestoreOptions say how a backup comes back.
type RestoreOptions struct {
	AcceptGap bool     // restore although the journal leaves something out
	DryRun    bool     // only say what would happen
	Journals  [][]byte // what happened since the backup, as some nodes have it
	Keys      []Plain  // texts of files with cluster keys that only the files are sealed under
}

// A RestoreReport says what a backup brought back, or would.
type RestoreReport struct {
	DryRun     bool              `json:"dry_run"`
	Cluster    string            `json:"cluster"`               // id of the cluster that it was taken of
	Taken      time.Time         `json:"taken"`                 // by the clock of the node that took it
	StateTime  time.Time         `json:"state_time,omitzero"`   // of the last command in it
	Seq        uint64            `json:"seq"`                   // of the last command in it
	Journal    uint64            `json:"journal_seq,omitempty"` // of the last command after it that the journals know of
	Covered    []JournalSpan     `json:"covered"`               // what the journals know of, in order
	KnownUntil time.Time         `json:"known_until"`           // what was taken away later is as it was then
	Counts     map[string]uint64 `json:"counts,omitempty"`      // rows of each table of the backup
	Changes    []string          `json:"changes"`               // what the journals changed in it, in words
	Skipped    []SkippedChanges  `json:"skipped"`               // what they could not, or need not, change
	NotDone    []string          `json:"not_done"`              // what of that should be known by name, in words
	Warnings   []string          `json:"warnings"`              // what could not be checked, in words
	Gap        string            `json:"gap,omitempty"`         // what is lost that was accepted to be lost, in words
}

// A JournalSpan is a run of commands that a journal knows of without a hole.
type JournalSpan struct {
	From   uint64    `json:"from"`
	To     uint64    `json:"to"`
	Begins time.Time `json:"begins,omitzero"`
	Ends   time.Time `json:"ends"`
}

// SkippedChanges are changes of one kind on what the backup does not have, or has
// so already.
type SkippedChanges struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}
