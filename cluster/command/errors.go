package command

import "errors"

// ErrClosed reports that the node stopped before the awaited event.
var ErrClosed = errors.New("node closed")
