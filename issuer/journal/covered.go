package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// Most commands have no record. How far they were seen after the last frame is stored in a
// separate file that is written in place, so that a journal without records doesn't grow. The
// file has two slots, written alternately and far enough apart to be in different sectors: a
// torn write damages only the newer one.
const (
	coveredName  = "covered"
	coveredMagic = "mmjc\x00\x00\x00\x01"
	slotSize     = len(coveredMagic) + 4*8 + 4
	slotStride   = 4096
)

func encodeSlot(r run) []byte {
	b := append(make([]byte, 0, slotSize), coveredMagic...)
	b = binary.BigEndian.AppendUint64(b, r.from.seq)
	b = binary.BigEndian.AppendUint64(b, uint64(r.from.at))
	b = binary.BigEndian.AppendUint64(b, r.to.seq)
	b = binary.BigEndian.AppendUint64(b, uint64(r.to.at))
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeSlot(b []byte) (run, bool) {
	if len(b) < slotSize || string(b[:len(coveredMagic)]) != coveredMagic {
		return run{}, false
	}
	sum, v := b[slotSize-4:slotSize], b[len(coveredMagic):]
	if crc32.Checksum(b[:slotSize-4], castagnoli) != binary.BigEndian.Uint32(sum) {
		return run{}, false
	}
	r := run{
		from: point{binary.BigEndian.Uint64(v), int64(binary.BigEndian.Uint64(v[8:]))},
		to:   point{binary.BigEndian.Uint64(v[16:]), int64(binary.BigEndian.Uint64(v[24:]))},
	}
	return r, r.from.seq <= r.to.seq
}

// slots is the open file. Only the writer uses it.
type slots struct {
	file file
	next int64 // slot to write next
	last run   // what was last written
}

// openSlots opens the file in dir, and returns how far commands were seen after the end of the
// frames. It ignores a slot that doesn't continue these frames: more frames have followed since,
// or some were lost. It erases such a slot, so that it isn't used when the journal reaches the
// same point again.
func openSlots(d disk, dir string, end cursor) (*slots, point, error) {
	path := filepath.Join(dir, coveredName)
	b, err := os.ReadFile(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return nil, point{}, fmt.Errorf("read %s: %w", coveredName, err)
	}
	s := &slots{}
	covered := end.point
	gone := [2]bool{}
	for i := range int64(2) {
		r, ok := decodeSlot(b[min(int64(len(b)), i*slotStride):])
		switch {
		case !ok:
		case !end.known || r.from.seq > end.seq:
			gone[i] = true
		case r.from.seq == end.seq && r.to.seq > covered.seq:
			covered, s.last, s.next = r.to, r, 1-i
		}
	}
	if s.file, err = d.Open(path); err != nil {
		return nil, point{}, fmt.Errorf("open %s: %w", coveredName, err)
	}
	for i := range gone {
		if gone[i] && err == nil {
			_, err = s.file.WriteAt(make([]byte, slotSize), int64(i)*slotStride)
		}
	}
	if err == nil {
		err = s.file.Sync()
	}
	if err == nil && isNew {
		err = d.SyncDir(dir)
	}
	if err != nil {
		return nil, point{}, errors.Join(fmt.Errorf("sync %s: %w", coveredName, err), s.file.Close())
	}
	return s, covered, nil
}

// write returns once r is on disk, or if it need not be written.
func (s *slots) write(r run) error {
	if r == s.last || r.from.seq == r.to.seq {
		return nil
	}
	if _, err := s.file.WriteAt(encodeSlot(r), s.next*slotStride); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.last, s.next = r, 1-s.next
	return nil
}
