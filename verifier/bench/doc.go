// Package bench compares package verifier with the verifiers that a resource server in Go
// would use otherwise: speed for one token, how many tokens of the corpus each accepts,
// and what each does while its issuer's keys change or can't be fetched. README.md has
// the results; the tests compare them with what they observe. It is a separate module, so
// that importers of verifier don't get the other verifiers' modules.
package bench
