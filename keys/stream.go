package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// The format of a sealed stream is
//
//	version      1 byte
//	salt        32 bytes, random: each stream has its own key
//	chunks      64 KiB each, the last one at most as long, each with its tag
//
// in the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár: Online
// Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance, 2015): the nonce of a
// chunk is its number and whether it is the last, so that chunks can't be removed, added,
// repeated or reordered. Only an empty stream ends in an empty chunk; each plain text is
// divided in one way.
const (
	streamVersion = 1
	streamPurpose = "cluster-key/stream/aes-256-gcm"
	streamSalt    = 32
	streamChunk   = 64 << 10

	clusterKeyIDPurpose = "cluster-key/id"
)

// ID returns the public name of the key: 16 hexadecimal digits that identify the key and
// reveal nothing about it. The zero key has none.
func (k ClusterKey) ID() string {
	if k.key == nil {
		return ""
	}
	return hex.EncodeToString(subkey([]byte(*k.key), clusterKeyIDPurpose)[:8])
}

// SealStream is Seal for data that doesn't fit in memory. What is written to the result
// is written sealed to w. Close ends the stream; without it, the stream can't be opened
// to its end. Close doesn't close w.
//
// The context is authenticated but not written, and must be passed to OpenStream.
func (k ClusterKey) SealStream(rand io.Reader, w io.Writer, context []byte) (io.WriteCloser, error) {
	head := make([]byte, 1+streamSalt)
	head[0] = streamVersion
	if _, err := io.ReadFull(rand, head[1:]); err != nil {
		return nil, fmt.Errorf("seal stream: %w", err)
	}
	s, err := k.stream(head[1:], context)
	if err != nil {
		return nil, fmt.Errorf("seal stream: %w", err)
	}
	if _, err := w.Write(head); err != nil {
		return nil, fmt.Errorf("seal stream: %w", err)
	}
	return &streamWriter{stream: s, w: w, buf: make([]byte, 0, streamChunk+tagSize)}, nil
}

// OpenStream returns a reader of the plain text of SealStream. The reader ends with
// io.EOF only if everything up to the sealed end has been read, and otherwise with
// ErrUnsealable or the error of r. Everything that was read before such an error is
// genuine but incomplete.
//
// It reads r to its end: a stream that is followed by other data doesn't open.
func (k ClusterKey) OpenStream(r io.Reader, context []byte) (io.Reader, error) {
	head := make([]byte, 1+streamSalt)
	_, err := io.ReadFull(r, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err == nil && head[0] != streamVersion {
		err = ErrUnsealable
	}
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	s, err := k.stream(head[1:], context)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	return &streamReader{stream: s, r: r, buf: make([]byte, streamChunk+tagSize+1)}, nil
}

// stream is the common part of both directions.
type stream struct {
	redacted
	aead    *hiddenAEAD
	context []byte
	number  uint64 // of the next chunk
}

func (k ClusterKey) stream(salt, context []byte) (stream, error) {
	if k.key == nil {
		return stream{}, ErrNoKey
	}
	key, err := hkdf.Key(sha256.New, []byte(*k.key), salt, "mintmark/1/"+streamPurpose, 32)
	if err != nil {
		return stream{}, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return stream{}, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return stream{}, err
	}
	bound := append([]byte{streamVersion}, context...)
	return stream{aead: &hiddenAEAD{AEAD: aead}, context: bound}, nil
}

// nonce returns the nonce of the next chunk. It never repeats under the key of a stream.
func (s *stream) nonce(last bool) []byte {
	var n [nonceSize]byte
	binary.BigEndian.PutUint64(n[nonceSize-9:], s.number)
	if last {
		n[nonceSize-1] = 1
	}
	s.number++
	return n[:]
}

type streamWriter struct {
	stream
	w   io.Writer
	buf []byte // plain text of the next chunk
	err error  // returned by every later call
}

// Write implements io.Writer. It holds back a full chunk until more is written, since the
// last chunk is sealed as such.
func (s *streamWriter) Write(p []byte) (int, error) {
	n := 0
	for s.err == nil && len(p) > 0 {
		if len(s.buf) == streamChunk {
			s.seal(false)
			continue
		}
		took := min(len(p), streamChunk-len(s.buf))
		s.buf = append(s.buf, p[:took]...)
		p, n = p[took:], n+took
	}
	return n, s.err
}

// Close seals the last chunk.
func (s *streamWriter) Close() error {
	if s.err == nil {
		if s.seal(true); s.err == nil {
			s.err = fmt.Errorf("seal stream: %w", os.ErrClosed)
			return nil
		}
	}
	return s.err
}

func (s *streamWriter) seal(last bool) {
	sealed := s.aead.Seal(s.buf[:0], s.nonce(last), s.buf, s.context)
	if _, err := s.w.Write(sealed); err != nil {
		s.err = fmt.Errorf("seal stream: %w", err)
	}
	s.buf = s.buf[:0]
}

type streamReader struct {
	stream
	r     io.Reader
	buf   []byte // a chunk and the first byte of the next one, if there is one
	ahead int    // 1 if that byte was read
	plain []byte // opened and not yet returned, in buf
	err   error  // returned by Read when plain is empty
}

// Read implements io.Reader.
func (s *streamReader) Read(p []byte) (int, error) {
	for len(p) > 0 && len(s.plain) == 0 && s.err == nil {
		var last bool
		if last, s.err = s.next(); s.err != nil {
			s.plain, s.err = nil, fmt.Errorf("open stream: %w", s.err)
		} else if last {
			s.err = io.EOF
		}
	}
	n := copy(p, s.plain)
	s.plain = s.plain[n:]
	if n == 0 && len(p) > 0 {
		return 0, s.err
	}
	return n, nil
}

// next opens the next chunk into plain.
func (s *streamReader) next() (last bool, err error) {
	n := copy(s.buf, s.buf[len(s.buf)-s.ahead:])
	for n < len(s.buf) && !last {
		m, err := s.r.Read(s.buf[n:])
		n += m
		if err == io.EOF { // exactly io.EOF: a wrapped one is an error of the reader
			last = true
		} else if err != nil {
			return false, err
		}
	}
	s.ahead = 0
	if n == len(s.buf) {
		n, s.ahead, last = n-1, 1, false
	}
	if n < tagSize || n == tagSize && s.number > 0 {
		return false, ErrUnsealable
	}
	s.plain, err = s.aead.Open(s.buf[:0], s.nonce(last), s.buf[:n], s.context)
	if err != nil {
		return false, ErrUnsealable
	}
	return last, nil
}
