package watchdog

import "fmt"

// SpaceLevel is how much room the file system of the data folder has.
type SpaceLevel uint8

const (
	// spaceOK is enough, or what can't be told.
	spaceOK SpaceLevel = iota
	// SpaceLow calls an operator.
	SpaceLow
	// SpaceOut is the end: new commands are refused while there still is room
	// for what is under way, for a snapshot to shorten the log, and to read.
	SpaceOut
)

// String implements fmt.Stringer.
func (l SpaceLevel) String() string {
	switch l {
	case spaceOK:
		return "ok"
	case SpaceLow:
		return "low"
	case SpaceOut:
		return "out"
	}
	return fmt.Sprintf("SpaceLevel(%d)", uint8(l))
}

const (
	spaceLowMax = 512 << 20
	spaceLowMin = 128 << 20
	// spaceHysteresis is the part of a threshold, one in so many, that must be free
	// above it before the level gets better: a log that is compacted and grows
	// again would change it every few seconds.
	spaceHysteresis = 10
)

// spaceThresholds says below how many free bytes a file system is low and out.
//
// A log that ran out of space is of no use until the process is started again
// (see failStopStore), so that must never happen: with 16 MiB for a segment of the
// log, allocated ahead, out has to leave room for two of them, 32 MiB. It is a
// quarter of low, so low is at least 128 MiB: room to react. Else it is 5 % of
// the file system and at most 512 MiB; a large disk is not full because 50 GiB
// of it are left. Of a file system below 512 MiB a quarter is low: as it starts,
// it is not. That one is for tests; 1 GiB has 128 and 32 MiB.
//
// An own low of zero means this.
func spaceThresholds(total, own uint64) (low, out uint64) {
	low = own
	if low == 0 {
		low = min(max(total/20, spaceLowMin), spaceLowMax, total/4)
	}
	return low, low / 4
}

// next is the level after l, with so much free. A level gets worse at once and
// better with some room to spare.
func (l SpaceLevel) next(free, low, out uint64) SpaceLevel {
	switch {
	case free < out || l == SpaceOut && free < out+out/spaceHysteresis:
		return SpaceOut
	case free < low || l != spaceOK && free < low+low/spaceHysteresis:
		return SpaceLow
	}
	return spaceOK
}
