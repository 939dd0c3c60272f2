// Package bench measures package verifier beside the verifiers that a resource
// server in Go would use otherwise: their speed for one token, and how many odd
// tokens they accept. It is a module of its own, so that nobody who imports
// verifier sees its dependencies.
//
//	cd verifier/bench
//	go test -run '^$' -bench . -benchmem -count 6
//	go test -run Corpus -v
package bench
