// Package bench compares package verifier with the verifiers that a resource server in
// Go would use otherwise: speed for one token, how many odd tokens each accepts, and what
// each does while its issuer's keys change or can't be fetched. README.md has the
// results, which the tests compare with what they observe. It is a module of its own, so
// that importers of verifier don't get the other verifiers' modules.
package bench
