// Package backup is the file that operators keep: a header that anybody can
// read, a sealed body, and a checksum that shows damage without a key.
//
//	mintmark backup 1\n
//	{header, as JSON}\n
//	body, sealed by the caller with both lines as its context
//	SHA-256 of everything before it, 32 bytes
//
// It owns that frame, and how such a file comes to be: complete under its name
// or not at all, for its owner only, never in another's place. What is in the
// body is the caller's matter, the state of a cluster or a journal; so is the
// key. The checksum finds accidents. Only the seal finds forgery: of what
// [Inspect] and [Open] say of a header, nothing is proven before the first byte
// of the body has been read.
package backup
