// Package journal stores, beside a node's data, records of what its state machine did, so
// that they can be replayed onto a cluster that is restored from an older backup.
//
// It owns the folder of files with its label, the durability of records, what was seen
// and what was not ([Journal.Spans]), the retention of records, and the portable form in
// which the journals of several nodes are merged ([Read], [Merge]). The content of a
// record belongs to the caller; here it is bytes. Package backup seals the portable form
// and stores it in a file.
//
// The journal never delays the state machine: Append does no I/O, waits for none, and
// can't fail. Records that could not be written, were damaged or were never seen become a
// gap between two spans. A span guarantees that all records of its commands are present.
//
// A journal belongs to one timeline of commands. A cluster that is restored from a backup begins
// another one, in an empty folder.
package journal
