// Package journal keeps, beside a node's data, records of what its state
// machine did, so that a cluster restored from a backup can be told what
// happened after it was taken.
//
// It owns a folder of files and the label on it, what is on disk when, what was
// seen and what was not ([Journal.Spans]), how long records are kept, and the
// portable form in which the journals of several nodes are brought together
// ([Read], [Merge]).
// What a record says is the caller's matter: here it is bytes. Sealing the
// portable form and giving it a file is package backup's.
//
// The journal never stands in the way of the state machine: Append does no
// I/O, waits for none, and cannot fail. What could not be written, was damaged
// or was never seen becomes a gap between two spans. A span is a promise that
// for each command in it all records are there.
//
// A journal belongs to one history of commands. A cluster that is restored from
// a backup begins another, in an empty folder.
package journal
