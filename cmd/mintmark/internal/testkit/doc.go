// Package testkit is what the tests of the program share: the command line as a test runs
// it. It knows no other package of the program, so the tests of each can use it.
package testkit
