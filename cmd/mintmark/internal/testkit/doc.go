// Package testkit has the parts that tests of the program share: processes, nodes,
// clusters of three nodes, a person who uses the pages, an OAuth client, the description of
// the API by which answers are verified, and the command line. It imports no package of the
// program. So the tests of every package can use it, and tests of a binary too.
package testkit
