package watchdog

import "fmt"

// SpaceLevel is the level of free space in the file system of the data folder.
type SpaceLevel uint8

const (
	// spaceOK means enough or unknown space.
	spaceOK SpaceLevel = iota
	// SpaceLow means that an operator must act.
	SpaceLow
	// SpaceOut means that new commands are refused, while there is still room for
	// commands under way, for a snapshot to shorten the log, and to read.
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
	// spaceHysteresis: one part in spaceHysteresis of a threshold must be free above it
	// before the level improves. Otherwise a log that is compacted and grows again would
	// change the level every few seconds.
	spaceHysteresis = 10
)

// spaceThresholds returns the numbers of free bytes below which a file system is low and
// out.
//
// A log that ran out of space is unusable until the process restarts (see failStopStore),
// so that must not happen. Segments of the log have 16 MiB and are allocated ahead, so
// out leaves room for two of them, 32 MiB. out is a quarter of low, so low is at least
// 128 MiB, which leaves time to react. Otherwise low is 5 % of the file system and at
// most 512 MiB: a large disk with 50 GiB left is not full. In a file system below 512
// MiB, which is for tests, low is a quarter of the size, so that a new one is not low. 1
// GiB has 128 and 32 MiB.
//
// If own is not zero, it is low.
func spaceThresholds(total, own uint64) (low, out uint64) {
	low = own
	if low == 0 {
		low = min(max(total/20, spaceLowMin), spaceLowMax, total/4)
	}
	return low, low / 4
}

// next returns the level after l with this many free bytes. A level gets worse at once,
// and better only with some room to spare.
func (l SpaceLevel) next(free, low, out uint64) SpaceLevel {
	switch {
	case free < out || l == SpaceOut && free < out+out/spaceHysteresis:
		return SpaceOut
	case free < low || l != spaceOK && free < low+low/spaceHysteresis:
		return SpaceLow
	}
	return spaceOK
}
