// Package upgrade tests that a running cluster goes from one version of the
// program to the next: it builds an older version out of the history of this
// repository, starts three nodes of it, and puts the new binary in the place of
// the old one node after the other, while clients keep asking.
//
// It has no code of its own and imports none of this module, so that nothing but
// the binaries can make a test pass. It needs a checkout with its history.
package upgrade
