// Package testkit has the parts that tests of the program share: processes, nodes,
// clusters of three nodes, a person who uses the pages, an OAuth client, the description of
// the API by which answers are verified, and the command line. Of the program's
// packages it imports only cluster/clustertest, for free addresses, so the tests of every
// package can use it, and tests of a binary too.
package testkit
