package server

import "errors"

// Errors of a start that an operator can correct.
var (
	ErrListen        = errors.New("listen for clients")     // on Config.Listen
	ErrListenOps     = errors.New("listen for operators")   // on Config.OpsListen
	ErrListenCluster = errors.New("listen for other nodes") // on Cluster.Listen
	ErrReadToken     = errors.New("read the join token")    // from Cluster.TokenFile
)
