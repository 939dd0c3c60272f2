package machine

// A snapshot is
//
//	magic, version   8 bytes
//	applied          8 bytes, big endian: index of the last entry in it
//	body             hashed, the same on every node that has the same state
//	SHA-256 of body  32 bytes
//
// and its body is, for every table that has rows, in order of names
//
//	uvarint length of the name, name
//	chunks: uvarint number of rows (1 to chunkRows), uvarint bytes, rows as CBOR in order of id
//	uvarint 0
//
// and a name of length 0 at the end. Tables without rows are left out, so that
// a new version of the program that adds a table has the same checksum for the
// same log.
const (
	snapshotMagic = "cluster\x01"
	headerSize    = 16
	chunkRows     = 512 // part of the format, since the checksum depends on it
	maxChunk      = 256 << 20
	maxName       = 255
)
