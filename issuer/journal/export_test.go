package journal

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
	CoveredName = coveredName
)

// Dir is where it is.
func (j *Journal) Dir() string { return j.config.Dir }
