package server

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

// Errors of a start that an operator can correct.
var (
	ErrListen          = errors.New("listen for clients")          // on Config.Listen
	ErrListenOps       = errors.New("listen for monitors")         // on Config.OpsListen
	ErrListenCluster   = errors.New("listen for other nodes")      // on Cluster.Listen
	ErrListenOperators = errors.New("listen for remote operators") // on Operators.Listen

	ErrReadToken = errors.New("read the join token") // from Cluster.TokenFile

	// ErrPrivilegedPort is in an error of listening.
	ErrPrivilegedPort = errors.New("a port below 1024 needs the capability CAP_NET_BIND_SERVICE")

	// ErrWorldWritable reports a data folder whose files anybody may have replaced.
	ErrWorldWritable = errors.New("everybody may write to the data folder, and so replace what is in it")

	ErrDevData      = errors.New("the data was made for development, and has users and clients whose passwords everybody may know")
	ErrNotDevData   = errors.New("the data was not made for development, and would get users and clients whose passwords everybody knows")
	ErrOtherAddress = errors.New("the addresses must be the same")
	ErrNoAddresses  = errcode.New("no_addresses", "the cluster was made and has no addresses yet")
	ErrInitialNodes = errcode.New("initial_nodes", "this node starts a cluster with others as soon as all of them run")
	ErrGap          = errcode.New("restore_gap", "the journals leave something out")
)

// listen opens a listener. kind is the sentinel of its errors.
func listen(kind error, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, listenError(kind, address, err)
	}
	return l, nil
}

func listenError(kind error, address string, err error) error {
	_, text, _ := net.SplitHostPort(address)
	port, _ := strconv.Atoi(text)
	if errors.Is(err, syscall.EACCES) && port > 0 && port < 1024 {
		return fmt.Errorf("%w: %w: %w", kind, err, ErrPrivilegedPort)
	}
	return fmt.Errorf("%w: %w", kind, err)
}
