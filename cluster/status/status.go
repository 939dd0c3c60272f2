// Package status has the status of a node, which nodes report to each other and operators
// read, and the numbers of its metrics. It holds types only: package cluster fills them.
package status

import "time"

// Roles and states of a node.
const (
	RoleVoter    = "voter"
	RoleNonvoter = "nonvoter" // it catches up, or is not in raft's configuration yet

	StateLeader      = "leader"
	StateFollower    = "follower"
	StateCandidate   = "candidate"
	StateUnreachable = "unreachable"
)

// A Node is the status of one node. A node reports the fields with a CBOR key about
// itself; the node that asked it adds the others.
type Node struct {
	Name               string    `json:"name" cbor:"-"`
	ID                 string    `json:"id" cbor:"1,keyasint"`
	Address            string    `json:"address" cbor:"-"`
	Role               string    `json:"role" cbor:"-"`
	State              string    `json:"state" cbor:"2,keyasint"`
	Term               uint64    `json:"term" cbor:"4,keyasint"`
	Applied            uint64    `json:"applied" cbor:"5,keyasint"` // index in raft's log
	Last               uint64    `json:"last" cbor:"6,keyasint"`    // index in raft's log
	Lag                uint64    `json:"lag" cbor:"-"`              // entries behind the node that has applied most
	Version            string    `json:"version" cbor:"9,keyasint,omitempty"`
	Level              uint32    `json:"level" cbor:"10,keyasint,omitempty"`             // highest feature level that it supports
	ClockOffset        int64     `json:"clock_offset_ms" cbor:"-"`                       // relative to the node that was asked
	CertificateExpires time.Time `json:"certificate_expires,omitzero" cbor:"8,keyasint"` // of the certificate for other nodes
	TLSExpires         time.Time `json:"tls_expires,omitzero" cbor:"27,keyasint"`        // of the certificate for clients; zero if it has none
	DiskFree           uint64    `json:"disk_free" cbor:"11,keyasint,omitempty"`         // bytes left for its data; 0 if unknown
	Follows            string    `json:"follows,omitempty" cbor:"-"`                     // name of the leader that it reports, "" if it knows none
	Error              string    `json:"error" cbor:"12,keyasint,omitempty"`             // why it can't be reached, or what is wrong with it, for operators

	// HungUp reports that the node accepts connections but closes them without a response:
	// it has isolated itself, or is stopping.
	HungUp bool `json:"-" cbor:"-"`
	// ClockUntrusted reports that the node's clock jumped or is not trusted yet, or that its
	// certificate is not valid by the clock of the node that was asked.
	ClockUntrusted bool `json:"-" cbor:"18,keyasint,omitempty"`
}

// Stats are the numbers of one node that operators watch, as the node knows them.
type Stats struct {
	Leading            bool
	LeaderKnown        bool // some node is known to lead
	Term               uint64
	Applied            uint64 // index of the last entry in the state
	Commit             uint64 // index of the last entry that is known to be committed
	Last               uint64 // index of the last entry in the log
	Lag                uint64 // entries that another node has applied and this one has not
	Level              uint32 // feature level in use
	Members            int    // voters and others
	Reachable          int    // members, this node included
	Queue              int    // commands that wait for the log
	QueueSize          int
	InFlight           int           // entries on their way through the log
	DiskFree           uint64        // bytes, of the folder of the log
	DiskHung           bool          // a write has not returned
	ClockOffset        time.Duration // the largest, against another node
	StateAhead         time.Duration // how far state time is ahead of the clocks of a majority, 0 if it is not
	CertificateExpires time.Time     // of the certificate for other nodes; zero if it has none
}
