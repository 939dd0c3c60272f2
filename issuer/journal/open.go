package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A Recovery is what Open found damaged and repaired.
type Recovery struct {
	// TruncatedBytes is how many bytes were cut off the end, as after a write that a crash
	// interrupted. Their commands are still in the log, which is replayed.
	TruncatedBytes int64
	// Damaged is how many parts in the middle are unreadable. Their records are missing, which
	// Spans reports as gaps.
	Damaged int
}

// Open opens the journal in a folder, or creates one. Damage is not an error:
// [Journal.Recovered] reports it, and Spans doesn't include what was lost.
func Open(c Config) (*Journal, error) {
	j, err := open(c)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	go j.run()
	return j, nil
}

// Empty reports whether a folder is missing or has no records of a journal. Files without
// content count as empty, since a start that fails before the first command leaves some.
func Empty(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
			return false, err
		}
	}
	return true, nil
}

// Recovered returns what Open found damaged and repaired.
func (j *Journal) Recovered() Recovery { return j.recovery }

func (c *Config) complete() error {
	if c.MaxAge < 0 || c.MaxBytes < 0 || c.Delay < 0 {
		return errors.New("negative MaxAge, MaxBytes or Delay")
	}
	if c.MaxAge == 0 {
		c.MaxAge = defaultMaxAge
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxSize
	}
	if c.Delay == 0 {
		c.Delay = defaultDelay
	}
	if c.disk == nil {
		c.disk = realDisk{}
	}
	return nil
}

func open(c Config) (*Journal, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Dir, modeDir); err != nil {
		return nil, err
	}
	if err := os.Chmod(c.Dir, modeDir); err != nil {
		return nil, err
	}
	j := &Journal{
		config:  c,
		wake:    make(chan struct{}, 1),
		flushes: make(chan chan error),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}
	if err := j.load(); err != nil {
		return nil, err
	}
	var err error
	j.writer.slots, j.covered, err = openSlots(c.disk, c.Dir, j.last)
	if err != nil {
		return nil, errors.Join(err, j.closeFiles())
	}
	return j, nil
}

// load reads all segments and prepares the last one for writing.
func (j *Journal) load() error {
	list, err := listSegments(j.config.Dir)
	if err != nil {
		return err
	}
	j.writer.number = 1
	for i, s := range list {
		j.writer.number = s.number + 1
		found, damaged, torn, err := s.load(&j.last)
		if err != nil {
			return err
		}
		last := i == len(list)-1
		switch {
		case last && torn && s.size == 0: // just created
			if err := j.config.disk.Remove(s.path); err != nil {
				return err
			}
			j.recovery.TruncatedBytes += found
			continue
		case last && s.size > 0:
			if err := j.resume(s, found); err != nil {
				return err
			}
			if j.recovery.TruncatedBytes += found - s.size; torn {
				damaged--
			}
		case s.size == 0: // of another version, or damaged: not modified
			s.size = found
		}
		j.recovery.Damaged += damaged
		j.segments = append(j.segments, s)
	}
	for _, s := range j.segments {
		if len(s.runs) == 0 {
			s.newest = j.last.at // retained as if it were new
		}
	}
	return nil
}

// resume opens the last segment and truncates it after its last valid frame. It syncs the
// file, since its contents may not be on disk yet if only the process had ended.
func (j *Journal) resume(s *segment, found int64) error {
	f, err := j.config.disk.Open(s.path)
	if err != nil {
		return err
	}
	j.writer.file, j.writer.active = f, s
	if found > s.size {
		err = f.Truncate(s.size)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = j.config.disk.SyncDir(j.config.Dir)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}
