package command

import "errors"

// ErrClosed reports that the node stopped, and what was waited for with it.
var ErrClosed = errors.New("node closed")
