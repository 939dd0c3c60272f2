//go:build !unix

package middleware_test

import "time"

// processorTime returns 0: the CPU time is unknown on this system.
func processorTime() time.Duration { return 0 }
