// Package attention decides what needs whom: the reviews that wait for administrators, the
// applications that need their owners or are offered to somebody, and the connected applications
// that a person should look at. It reads a view of the ledger. It has no words for any of it: the
// page and the feed that show it are in package account.
package attention
