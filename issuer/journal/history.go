package journal

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
)

// The portable form is a line with its name and version, frames as in the journal's
// files, the head of an empty frame, and the SHA-256 of all this.
const (
	portableMagic  = "mintmark journal "
	portableHeader = portableMagic + "1\n"
)

// ErrFormat reports bytes that are not the portable form of a journal, or are in an
// unknown version of it.
var ErrFormat = errors.New("not a journal in a known format")

// A History is the contents of one or several journals. It is immutable.
type History struct {
	runs    []run // in order, not empty, not touching
	records []Record
}

// Spans returns what the history covers, in order.
func (h *History) Spans() []Span { return spans(h.runs) }

// Records yields the records of commands after a Seq, in order.
func (h *History) Records(after uint64) iter.Seq[Record] {
	i, _ := slices.BinarySearchFunc(h.records, after, func(r Record, after uint64) int {
		if r.Seq <= after {
			return -1
		}
		return 1
	})
	return slices.Values(h.records[i:])
}

// Until returns the part of h up to a Seq. If h has later commands, the last span ends at
// the state time of its last record.
func (h *History) Until(seq uint64) *History {
	out := &History{}
	for _, r := range h.records {
		if r.Seq <= seq {
			out.records = append(out.records, r)
		}
	}
	for _, r := range h.runs {
		if r.from.seq >= seq {
			break
		}
		if r.to.seq > seq {
			r.to = point{seq, r.from.at}
			if n := len(out.records); n > 0 {
				r.to.at = max(r.to.at, out.records[n-1].At)
			}
		}
		out.runs = append(out.runs, r)
	}
	return out
}

// After returns the part of h after a Seq.
func (h *History) After(seq uint64) *History {
	out := &History{records: slices.Collect(h.Records(seq))}
	for _, r := range h.runs {
		if r.to.seq <= seq {
			continue
		}
		r.from.seq = max(r.from.seq, seq) // r covers commands after seq only
		out.runs = append(out.runs, r)
	}
	return out
}

// Export writes the portable form of the journal, including records that are not on disk
// yet. Damaged records are omitted and become a gap.
func (j *Journal) Export(w io.Writer) error {
	t := j.snapshot(0)
	e := newExporter(w)
	for f, err := range t.frames() {
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return fmt.Errorf("export journal: %w", err)
		}
		if err := e.frame(f.since, f.to, f.data); err != nil {
			return fmt.Errorf("export journal: %w", err)
		}
	}
	if t.after.from.seq < t.after.to.seq {
		if err := e.frame(t.after.from, t.after.to, nil); err != nil {
			return fmt.Errorf("export journal: %w", err)
		}
	}
	if err := e.end(); err != nil {
		return fmt.Errorf("export journal: %w", err)
	}
	return nil
}

// Export writes the portable form of the history.
func (h *History) Export(w io.Writer) error {
	e, rest := newExporter(w), h.records
	for _, r := range h.runs {
		at := r.from
		for len(rest) > 0 && rest[0].Seq <= r.to.seq {
			var data [][]byte
			to := point{rest[0].Seq, rest[0].At}
			for len(rest) > 0 && rest[0].Seq == to.seq {
				data, rest = append(data, rest[0].Data), rest[1:]
			}
			if err := e.frame(at, to, data); err != nil {
				return fmt.Errorf("export history: %w", err)
			}
			at = to
		}
		if at.seq < r.to.seq {
			if err := e.frame(at, r.to, nil); err != nil {
				return fmt.Errorf("export history: %w", err)
			}
		}
	}
	if err := e.end(); err != nil {
		return fmt.Errorf("export history: %w", err)
	}
	return nil
}

type exporter struct {
	w    *bufio.Writer
	hash hash.Hash
	buf  []byte
}

func newExporter(w io.Writer) *exporter {
	e := &exporter{w: bufio.NewWriterSize(w, 64<<10), hash: sha256.New()}
	e.buf = append(e.buf, portableHeader...)
	return e
}

// frame flushes the buffer and then stores a frame in it.
func (e *exporter) frame(since, to point, data [][]byte) error {
	err := e.write()
	e.buf = appendFrame(e.buf, since, to, data)
	return err
}

func (e *exporter) write() error {
	e.hash.Write(e.buf)
	_, err := e.w.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

func (e *exporter) end() error {
	if err := e.write(); err != nil {
		return err
	}
	e.buf = append(e.buf, make([]byte, frameHead)...)
	putHead(e.buf)
	if err := e.write(); err != nil {
		return err
	}
	if _, err := e.w.Write(e.hash.Sum(nil)); err != nil {
		return err
	}
	return e.w.Flush()
}

// Read reads a portable form to its end. A damaged one is refused, unlike a node's own
// journal, since there is usually another copy or another node's journal.
func Read(r io.Reader) (*History, error) {
	in := &importer{r: bufio.NewReaderSize(r, 64<<10), hash: sha256.New()}
	h, err := in.read()
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return h, nil
}

type importer struct {
	r    *bufio.Reader
	hash hash.Hash
}

func (in *importer) read() (*History, error) {
	head, err := in.bytes(len(portableHeader))
	if err != nil || string(head) != portableHeader {
		return nil, errors.Join(ErrFormat, notDamage(err))
	}
	h := &History{}
	for c := (cursor{}); ; {
		f, err := in.frame()
		if err != nil {
			return nil, err
		}
		if f == nil {
			break
		}
		// The exporter writes no old frames.
		if old, err := c.accept(*f); old || err != nil {
			return nil, ErrDamaged
		}
		h.add(*f)
	}
	h.runs = slices.DeleteFunc(h.runs, func(r run) bool { return r.from.seq == r.to.seq })
	sum := in.hash.Sum(nil)
	if found, err := in.bytes(len(sum)); err != nil || string(found) != string(sum) {
		return nil, errors.Join(ErrDamaged, notDamage(err))
	}
	if _, err := in.r.ReadByte(); err != io.EOF {
		return nil, errors.Join(ErrDamaged, err)
	}
	return h, nil
}

func (h *History) add(f frame) {
	for _, d := range f.data {
		h.records = append(h.records, Record{Seq: f.to.seq, At: f.to.at, Data: d})
	}
	h.runs = extend(h.runs, run{f.since, f.to})
}

// frame returns the next frame, or nil at the end.
func (in *importer) frame() (*frame, error) {
	head, err := in.bytes(frameHead)
	if err != nil {
		return nil, err
	}
	n, ok := bodySize(head)
	if !ok {
		return nil, ErrDamaged
	}
	if n == 0 {
		return nil, nil
	}
	body, err := in.bytes(n)
	if err != nil {
		return nil, err
	}
	f, err := decodeFrame(head, body)
	if err != nil {
		return nil, ErrDamaged
	}
	return &f, nil
}

// bytes reads n bytes, at most maxFrame.
func (in *importer) bytes(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(in.r, b); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = ErrDamaged
		}
		return nil, err
	}
	in.hash.Write(b)
	return b, nil
}

func notDamage(err error) error {
	if errors.Is(err, ErrDamaged) {
		return nil
	}
	return err
}
