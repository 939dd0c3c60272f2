package server

import "time"

// WallClock is the machine's clock, the only one that stamps commands.
func WallClock() time.Time { return time.Now() }
