package member

import "github.com/mintmark-auth/mintmark/cluster/errcode"

// A RefusedError reports that the rules do not allow a change of membership.
type RefusedError struct {
	Reason string
	Code   string // of the error that is the reason, "" if it has none; see package errcode
}

// Refuse returns the refusal whose reason is err.
func Refuse(err error) *RefusedError {
	return &RefusedError{Reason: err.Error(), Code: errcode.Of(err)}
}

// Error implements error.
func (e *RefusedError) Error() string { return e.Reason }

// Unwrap returns the error that is the reason, nil if it has no code.
func (e *RefusedError) Unwrap() error {
	if e.Code == "" {
		return nil
	}
	return errcode.Restore(e.Code, e.Reason)
}

// A NoNodeError reports that the cluster has no node with a name.
type NoNodeError struct{ Name string }

// Error implements error.
func (e *NoNodeError) Error() string { return "the cluster has no node " + e.Name }

// Unwrap returns a *RefusedError.
func (e *NoNodeError) Unwrap() error { return &RefusedError{Reason: e.Error()} }

// ErrRemoved reports that a node was removed from its cluster.
var ErrRemoved = errcode.New("node_removed", "this node was removed from the cluster")

// ErrRebuiltFile reports that a file is damaged that a start makes anew, from the log,
// where it is missing.
var ErrRebuiltFile = errcode.New("rebuilt_file", "the file is damaged, and made anew at a start where it is missing")

// ErrNodeKeyLost reports that the key is lost by which the other nodes know a node.
var ErrNodeKeyLost = errcode.New("node_key_lost", "the other nodes know this node by its key, which is lost")

// ErrDuplicateNode reports that another process runs as this node.
var ErrDuplicateNode = errcode.New("duplicate_node", "another process runs as this node, with a copy of its data folder")

// Errors of transfers of the leadership. They reach operators as a RefusedError with their code.
var (
	ErrNotVoter       = errcode.New("not_a_voter", "it becomes a voter by itself when it has caught up")
	ErrNoOtherVoter   = errcode.New("no_other_voter", "there is no other voter that could lead")
	ErrVoterSilent    = errcode.New("voter_unreachable", "can't be reached, and so can't lead")
	ErrNotTransferred = errcode.New("leadership_not_transferred", "leadership was not transferred")
)

// Errors of invitations, joins and removals. They reach a new node, and operators, as a
// RefusedError with their code.
var (
	ErrBadToken         = errcode.New("bad_join_token", "this is not a join token")
	ErrUnknownInvite    = errcode.New("unknown_invitation", "the join token is not known, or has expired")
	ErrTokenUsed        = errcode.New("join_token_used", "the join token was used by another node")
	ErrOtherCluster     = errcode.New("other_cluster", "the node that answers belongs to another cluster than the join token, or its authority was changed since the token was made")
	ErrOtherName        = errcode.New("other_node_name", "the names differ")
	ErrBadAddress       = errcode.New("bad_node_address", "the node's own address is not host:port")
	ErrNameTaken        = errcode.New("node_name_taken", "the cluster has a node of this name already")
	ErrInvitationUsed   = errcode.New("invitation_used", "the invited node has joined, so there is no invitation left to withdraw")
	ErrInitialNodeCount = errcode.New("initial_node_count", "3, 5 or 7 nodes start a cluster together: an even number survives no more failures than one node less")
	ErrLastVoter        = errcode.New("last_voter", "without that node there would be no voter left")
	ErrNoMajorityLeft   = errcode.New("no_majority_left", "the voters that would be left have no majority that can be reached")
	ErrRemovalUnderWay  = errcode.New("removal_under_way", "another node is being removed")
	ErrChangeUnderWay   = errcode.New("change_under_way", "another change of the nodes is in progress")
	ErrNotCaughtUp      = errcode.New("not_caught_up", "a node has not caught up with the leader yet")
	ErrNoNetwork        = errcode.New("no_network", "this node has no network for other nodes")
)
