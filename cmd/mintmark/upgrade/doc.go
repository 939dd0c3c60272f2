// Package upgrade tests the upgrade of a running cluster: it starts three nodes of the
// older version, and replaces the binary of one node after the other while clients keep
// sending requests. The older version is built from the commit that froze its feature
// level, so the tests need a checkout with its history. The newer one is this checkout
// with a higher feature level, see main_test.go.
//
// It has no code of its own and imports the kit of the tests only, so that nothing but
// the binaries can make a test pass.
package upgrade
