package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	segmentMagic  = "mmjrnl\x00\x01" // ends with the version
	segmentSuffix = ".journal"
)

// A segment is one file of frames. Journal.mu guards it; only the writer changes it, so
// the writer may read it without the lock.
type segment struct {
	number uint64 // in the file name; increases with each segment
	path   string
	size   int64 // up to the end of the last successful write
	runs   []run // what its frames cover
	newest int64 // latest known state time of its frames
}

func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%016d%s", number, segmentSuffix))
}

// listSegments returns the segments in a folder, oldest first, without reading them.
func listSegments(dir string) ([]*segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []*segment
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), segmentSuffix)
		var n uint64
		if _, err := fmt.Sscanf(digits, "%d", &n); err != nil || !ok {
			continue
		}
		if s := (&segment{number: n, path: segmentPath(dir, n)}); filepath.Base(s.path) == e.Name() {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *segment) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	return list, nil
}

// add records frames that were written at its end.
func (s *segment) add(size int, runs []run) {
	s.size += int64(size)
	for _, r := range runs {
		s.runs = extend(s.runs, r)
	}
	if n := len(runs); n > 0 {
		s.newest = runs[n-1].to.at
	}
}

// unwritten reports whether b is a segment of which only a part of the magic reached the
// disk; a file system may have filled later writes with zeros.
func unwritten(b []byte) bool {
	n := 0
	for n < len(b) && n < len(segmentMagic) && b[n] == segmentMagic[n] {
		n++
	}
	return len(bytes.Trim(b[n:], "\x00")) == 0
}

// load reads an existing segment. It returns the size of the file, the number of
// unreadable parts, and whether one of them is at the end. It sets s.size to the end of
// the last valid frame, or to 0 if the file is no segment.
func (s *segment) load(c *cursor) (found int64, damaged int, torn bool, err error) {
	b, err := os.ReadFile(s.path)
	if err != nil {
		return 0, 0, false, err
	}
	found = int64(len(b))
	frames, ok := bytes.CutPrefix(b, []byte(segmentMagic))
	if !ok {
		return found, 1, unwritten(b), nil
	}
	s.size = int64(len(segmentMagic))
	for f, err := range c.walk(frames) {
		if torn = err != nil; torn {
			damaged++
			continue
		}
		s.runs = extend(s.runs, run{f.since, f.to})
		s.size = int64(len(segmentMagic) + f.end)
	}
	s.newest = c.at
	return found, damaged, torn, nil
}
