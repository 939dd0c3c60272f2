// Package bench loads a server with requests and measures its answers.
//
//	conn.go     one keep-alive connection, which costs the machine as little as it can
//	load.go     connections that make requests: as fast as they are answered, or at a rate
//	refresh.go  what is requested
//	result.go   rates and percentiles
//	clients.go  clients and their refresh tokens in a file
//	seed.go     a user and a client of its own on a local node, and their removal
//
// It is a package beside cli because the benchmarks of package main load servers with it
// too, so that the command and they measure the same way. It speaks HTTP and asks the
// operators' socket, and knows nothing of how a server works.
package bench
