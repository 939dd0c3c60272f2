package store

// Keys of the stable store that are not raft's. They are beside the votes, so that a loss
// of the votes includes them.
const (
	KeyInstanceID   = "InstanceID"
	KeyNodeID       = "NodeID"
	KeyCommitMarker = "CommitMarker" // set once the file of the commit marker exists
)
