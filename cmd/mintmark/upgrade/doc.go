// Package upgrade tests that a running cluster goes from one version of the
// program to the next: it starts three nodes of the older version, and puts the
// new binary in the place of the old one node after the other, while clients keep
// asking. No version was released yet: the older one is this checkout, and the new
// one is this checkout with a feature level of its own, see main_test.go.
//
// It has no code of its own and imports none of this module, so that nothing but
// the binaries can make a test pass.
package upgrade
