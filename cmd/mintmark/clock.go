package main

import "time"

// wallClock is the machine's clock, the only one that stamps commands.
func wallClock() time.Time { return time.Now() }
