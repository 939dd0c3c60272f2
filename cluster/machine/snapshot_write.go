package machine

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// WriteSnapshot writes a snapshot of txn, whose last log entry is applied. It returns
// command.ErrClosed when stop is closed.
func (c *State) WriteSnapshot(w io.Writer, txn *memdb.Txn, applied uint64, stop <-chan struct{}) error {
	header := binary.BigEndian.AppendUint64([]byte(snapshotMagic), applied)
	if _, err := w.Write(header); err != nil {
		return err
	}
	hash := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, hash), 256<<10)
	if err := c.schema.writeBody(out, txn, stop); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := w.Write(hash.Sum(nil))
	return err
}

// Checksum returns the hash of the body of a snapshot of the current state, and its
// index.
func (c *State) Checksum() (sum [32]byte, applied uint64, err error) {
	txn, applied := c.ViewIndex()
	hash := sha256.New()
	out := bufio.NewWriterSize(hash, 256<<10)
	if err := c.schema.writeBody(out, txn, nil); err != nil {
		return sum, 0, err
	}
	if err := out.Flush(); err != nil {
		return sum, 0, err
	}
	hash.Sum(sum[:0])
	return sum, applied, nil
}

func (s *schema) writeBody(w *bufio.Writer, txn *memdb.Txn, stop <-chan struct{}) error {
	for _, name := range s.names {
		rows, err := txn.Get(name, "id")
		if err != nil {
			return fmt.Errorf("read table %q: %w", name, err)
		}
		if err := writeTable(w, name, rows, stop); err != nil {
			return fmt.Errorf("table %q: %w", name, err)
		}
	}
	return writeUvarint(w, 0)
}

func writeTable(w *bufio.Writer, name string, rows memdb.ResultIterator, stop <-chan struct{}) error {
	row := rows.Next()
	if row == nil {
		return nil
	}
	if err := writeUvarint(w, uint64(len(name))); err != nil {
		return err
	}
	if _, err := w.WriteString(name); err != nil {
		return err
	}
	var chunk bytes.Buffer
	for row != nil {
		chunk.Reset()
		n := uint64(0)
		for ; row != nil && n < chunkRows; row = rows.Next() {
			if err := encoding.MarshalToBuffer(row, &chunk); err != nil {
				return fmt.Errorf("encode row: %w", err)
			}
			n++
		}
		if err := writeChunk(w, n, chunk.Bytes()); err != nil {
			return err
		}
		select {
		case <-stop:
			return command.ErrClosed
		default:
		}
	}
	return writeUvarint(w, 0)
}

func writeChunk(w *bufio.Writer, rows uint64, data []byte) error {
	if err := writeUvarint(w, rows); err != nil {
		return err
	}
	if err := writeUvarint(w, uint64(len(data))); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

func writeUvarint(w *bufio.Writer, v uint64) error {
	var b [binary.MaxVarintLen64]byte
	_, err := w.Write(b[:binary.PutUvarint(b[:], v)])
	return err
}
