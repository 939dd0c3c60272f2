// Package issuertest runs issuers on real nodes, for the tests of package issuer and of
// the packages that it is made of.
package issuertest
