// Package issuertest runs issuers on real nodes, for the tests of package issuer and its
// parts.
package issuertest
