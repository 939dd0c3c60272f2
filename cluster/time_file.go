package cluster

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
)

// A file of a time holds milliseconds since the Unix epoch, and a checksum. It is
// written in place, its few bytes at once, and not synced: who loses power knows of
// a time that is some seconds older. One that is damaged is none.
const timeFileSize = 8 + 4

// readTime is 0 where there is no such file.
func readTime(path string) (ms int64, err error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	if len(b) != timeFileSize || crc32.Checksum(b[:8], castagnoli) != binary.BigEndian.Uint32(b[8:]) {
		return 0, nil
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

func writeTime(path string, ms int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, modeFile)
	if err != nil {
		return err
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, timeFileSize), uint64(ms))
	_, err = f.WriteAt(binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), 0)
	return errors.Join(err, f.Close())
}
