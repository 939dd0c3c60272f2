package transport

import (
	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Await returns the future's error, or command.ErrClosed when stop is closed first.
//
// A future that raft has passed to its state machine is never answered if raft shuts down
// before the state machine takes it: hashicorp/raft #498, open. Its Error method then
// blocks forever, so Await calls it in a goroutine, which is lost with the future. Close
// makes this rare: it waits for commands under way before it shuts raft down.
func Await(f raft.Future, stop <-chan struct{}) error {
	done := make(chan error, 1)
	go func() { done <- f.Error() }()
	select {
	case err := <-done:
		return err
	case <-stop:
		return command.ErrClosed
	}
}
