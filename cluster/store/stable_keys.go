package store

// Keys of the stable store that are not raft's. They lie beside the votes, so that
// they are lost with them.
const (
	KeyInstanceID   = "InstanceID"
	KeyNodeID       = "NodeID"
	KeyCommitMarker = "CommitMarker" // set once the file of the commit marker exists
)
