package journal

import "errors"

// Access to internals for the tests of this package.

type (
	Disk = disk
	File = file
)

// OnDisk makes a journal write through d.
func OnDisk(c Config, d Disk) Config {
	c.disk = d
	return c
}

// RealDisk is the default disk.
var RealDisk Disk = realDisk{}

const (
	MaxFrame    = maxFrame
	SlotSize    = slotSize
	CoveredName = coveredName
)

// Dir returns the journal's folder.
func (j *Journal) Dir() string { return j.config.Dir }

// OpenWithoutWriter opens a journal without the goroutine that writes.
func OpenWithoutWriter(c Config) (*Journal, error) { return open(c) }

// FlushAndClose does the same as Flush and Close, without the writer.
func (j *Journal) FlushAndClose() error { return errors.Join(j.write(true), j.closeFiles()) }
