// Package testkit is what the tests of the program share: its processes, nodes and
// clusters of three, a person at its pages, an OAuth client, and the command line as a
// test runs it. It knows no package of the program, so the tests of each can use it, and
// so can those of a binary.
package testkit
