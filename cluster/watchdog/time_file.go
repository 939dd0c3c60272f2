package watchdog

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// A file of times has milliseconds, those since the Unix epoch first, and a checksum. It
// is written in place with one write, and not synced: after a loss of power the times may
// be some seconds old. A damaged file counts as missing.

// ReadTimes reads a file of times. It leaves ms unchanged if the file does not exist or
// is damaged.
func ReadTimes(path string, ms ...*int64) error {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	size := 8 * len(ms)
	if len(b) != size+4 || crc32.Checksum(b[:size], crcTable) != binary.BigEndian.Uint32(b[size:]) {
		return nil
	}
	for i, to := range ms {
		*to = int64(binary.BigEndian.Uint64(b[8*i:]))
	}
	return nil
}

// WriteTimes writes a file of times.
func WriteTimes(path string, ms ...int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	var b []byte
	for _, t := range ms {
		b = binary.BigEndian.AppendUint64(b, uint64(t))
	}
	_, err = f.WriteAt(binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crcTable)), 0)
	return errors.Join(err, f.Close())
}
