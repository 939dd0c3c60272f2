// Package integrity decides whether a node may go on with its data folder.
//
// A node that lost its votes, or entries that it acknowledged, would harm the
// cluster. So the package answers: does the folder have all that the node had, is
// it the folder of this node, and does a second process run with a copy of it? It
// returns errors that wrap store.ErrDataLost. A node that must not take part isolates
// itself by functions that package cluster hands in.
//
//	folder.go              a folder that is locked and open
//	instance_id.go         a log that is lost is noticed; identity.go, whose log it is
//	commit_marker.go       how far the log was committed; commit_marker_file.go, its file
//	snapshot_install.go    a kill while a snapshot was installed
//	log_position.go        what this node's log has
//	rollback_detector.go   a folder that was rolled back is found by what other members remember
//	log_handshake.go       two members compare that before raft connects them
//	incarnations.go        two processes of one member; duplicate_node.go, of this one
//	removed.go             the node was removed from its cluster
package integrity
