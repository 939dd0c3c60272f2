package journal

import "errors"

// The seams that tests of this package take hold of.

type (
	Disk = disk
	File = file
)

// OnDisk makes a journal write through d.
func OnDisk(c Config, d Disk) Config {
	c.disk = d
	return c
}

// RealDisk is what a journal writes to unless it is told otherwise.
var RealDisk Disk = realDisk{}

const (
	MaxFrame    = maxFrame
	SlotSize    = slotSize
	CoveredName = coveredName
)

// Dir is where it is.
func (j *Journal) Dir() string { return j.config.Dir }

// OpenWithoutWriter opens a journal without the goroutine that writes.
func OpenWithoutWriter(c Config) (*Journal, error) { return open(c) }

// FlushAndClose does what a Flush and a Close would have it do.
func (j *Journal) FlushAndClose() error { return errors.Join(j.write(true), j.closeFiles()) }
