// Package backup owns the format of the files that operators keep: a header in clear, a
// sealed body, and a checksum that reveals damage without a key.
//
//	mintmark backup 1\n
//	{header, as JSON}\n
//	body, sealed by the caller with both lines as its context
//	SHA-256 of everything before it, 32 bytes
//
// It owns this frame and how such a file is created: complete or not at all, readable by
// its owner only, never overwriting another. It also owns the folder of a node's scheduled
// backups ([Folder]): their names, and which of them are removed; not when one is made. The body, the state of a cluster or a
// journal, and the key belong to the caller. The checksum detects accidents; only the seal
// detects forgery: nothing that [Inspect] and [Open] return of a header is authenticated
// before the first byte of the body has been read.
package backup
