package machine

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/hashicorp/go-memdb"
)

// Restore replaces the state by that of a snapshot. On an error the state is unchanged.
func (c *State) Restore(r io.Reader) error {
	db, applied, err := c.readSnapshot(r)
	if err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	s := ReadStatus(db.Txn(false))
	c.latest.seq.Store(s.Seq)
	c.latest.level.Store(s.Level)
	c.latest.halted.Store(s.Halted)
	c.latest.at.Store(s.At)
	c.progress.advance(applied, func() {
		c.db.Store(db)
		c.show()
	})
	c.watches.fireAll()
	if c.observer != nil {
		c.observer.Restored(s.Seq, s.At)
	}
	return nil
}

// CheckSnapshot returns an error if Restore would.
func (c *State) CheckSnapshot(r io.Reader) error {
	_, _, err := c.readSnapshot(r)
	return err
}

// readSnapshot returns the state of a snapshot, if this version of the program supports
// it.
func (c *State) readSnapshot(r io.Reader) (*memdb.MemDB, uint64, error) {
	db, applied, err := c.schema.readSnapshot(r)
	if err != nil {
		return nil, 0, err
	}
	if err := c.CheckLevel(ReadStatus(db.Txn(false)).Level); err != nil {
		return nil, 0, err
	}
	return db, applied, nil
}

// readSnapshot builds a new database. Chunks are decoded concurrently; one goroutine
// inserts them.
func (s *schema) readSnapshot(r io.Reader) (*memdb.MemDB, uint64, error) {
	in := &hashedReader{r: bufio.NewReaderSize(r, 256<<10), hash: sha256.New()}
	var header [headerSize]byte
	if _, err := io.ReadFull(in.r, header[:]); err != nil {
		return nil, 0, fmt.Errorf("header: %w", noEOF(err))
	}
	if string(header[:8]) != snapshotMagic {
		return nil, 0, fmt.Errorf("unknown format or version %q", header[:8])
	}
	applied := binary.BigEndian.Uint64(header[8:])
	db := s.open()
	if err := s.insertChunks(db, in); err != nil {
		return nil, 0, err
	}
	var sum [sha256.Size]byte
	if _, err := io.ReadFull(in.r, sum[:]); err != nil {
		return nil, 0, fmt.Errorf("checksum: %w", noEOF(err))
	}
	if string(sum[:]) != string(in.hash.Sum(nil)) {
		return nil, 0, errors.New("checksum mismatch")
	}
	txn := db.Txn(true)
	defer txn.Abort()
	if err := s.derive(txn); err != nil {
		return nil, 0, err
	}
	txn.Commit()
	return db, applied, nil
}

// readChunks sends every chunk of the body to out, which it closes.
func (s *schema) readChunks(in *hashedReader, out func(*chunk) bool) error {
	for last := ""; ; {
		size, err := in.uvarint(maxName)
		if err != nil || size == 0 {
			return err
		}
		name, err := in.bytes(size)
		if err != nil {
			return err
		}
		t := s.tables[string(name)]
		if t == nil || t.name <= last {
			return fmt.Errorf("table %q is unknown or out of order", name)
		}
		last = t.name
		for {
			rows, err := in.uvarint(chunkRows)
			if err != nil {
				return err
			}
			if rows == 0 {
				break
			}
			size, err := in.uvarint(maxChunk)
			if err != nil {
				return err
			}
			data, err := in.bytes(size)
			if err != nil {
				return err
			}
			if !out(&chunk{table: t, rows: make([]any, rows), data: data, ready: make(chan struct{})}) {
				return nil
			}
		}
	}
}

// hashedReader reads and hashes the body.
type hashedReader struct {
	r    *bufio.Reader
	hash hash.Hash
}

// ReadByte implements io.ByteReader, for binary.ReadUvarint.
func (h *hashedReader) ReadByte() (byte, error) {
	b, err := h.r.ReadByte()
	if err == nil {
		h.hash.Write([]byte{b})
	}
	return b, err
}

func (h *hashedReader) uvarint(limit uint64) (uint64, error) {
	v, err := binary.ReadUvarint(h)
	if err != nil {
		return 0, noEOF(err)
	}
	if v > limit {
		return 0, fmt.Errorf("length %d is more than %d", v, limit)
	}
	return v, nil
}

func (h *hashedReader) bytes(n uint64) ([]byte, error) {
	// Not allocated at once: a damaged length must not exhaust the memory.
	const step = 1 << 20
	b := make([]byte, 0, min(n, step))
	for uint64(len(b)) < n {
		part := min(n-uint64(len(b)), step)
		b = append(b, make([]byte, part)...)
		if _, err := io.ReadFull(h.r, b[uint64(len(b))-part:]); err != nil {
			return nil, noEOF(err)
		}
	}
	h.hash.Write(b)
	return b, nil
}

// noEOF turns io.EOF into io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
