package admin

import (
	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Errors of operations. A Problem that came from another process is one of them by its code.
var (
	ErrUnreachable       = errcode.New("node_unreachable", "no answer at the operators' socket")
	ErrServerUnreachable = errcode.New("server_unreachable", "no answer from the server")
	ErrLocalOnly         = errcode.New("local_only", ledger.LocalOnly.String())

	ErrNoLeader       = errcode.New("no_leader", "nothing can be decided now, and nothing was changed: no leader answers")
	ErrTokenUnchecked = errcode.New("operator_token_unchecked", "the operator token can't be checked while no leader answers, and nothing was changed")
	ErrOutcomeUnknown = errcode.New("outcome_unknown", "whether this was done can't be told: the leader, or too many nodes, were lost before it was answered")
	ErrInternal       = errcode.New("internal", "the server failed")
	ErrStandalone     = errcode.New("node_alone", "this node runs alone")
	ErrNoCluster      = errcode.New("no_cluster", "this node belongs to no cluster yet")
	ErrNotJoined      = errcode.New("not_joined", "this node joins a cluster, and is no member yet")
	ErrJoining        = errcode.New("joining", "this node was started to join a cluster")
	ErrAlreadyMember  = errcode.New("already_member", "this node belongs to a cluster already")
	ErrPlainHTTP      = errcode.New("plain_http", "must be an https address outside the loopback, or passwords, cookies and secrets can be read and changed on the way")
	ErrIsolated       = errcode.New("node_isolated", "this node has isolated itself from the others")
	ErrNotMember      = errcode.New("not_member", "this node is not in the list of members: it was removed from the cluster")
	ErrMajorityLost   = errcode.New("majority_lost", "no leader can be elected")
	ErrVotersMissing  = errcode.New("voters_missing", "fewer nodes vote than have voted before")
	ErrUnknownScope   = errcode.New("unknown_scope", "is no scope")
	ErrClientState    = errcode.New("client_state", "is no state of a client")
	ErrEventKind      = errcode.New("event_kind", "is no kind of event")
)
