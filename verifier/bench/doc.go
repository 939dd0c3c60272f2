// Package bench measures package verifier beside the verifiers that a resource
// server in Go would use otherwise: their speed for one token, how many odd tokens
// they accept, and how they do while their issuer's keys change or can't be had. It
// is a module of its own, so that nobody who imports verifier sees its dependencies.
// Its tests hold what the documentation of package verifier says of the others.
//
//	cd verifier/bench
//	go test -run '^$' -bench . -benchmem -count 6
//	go test -run Corpus -v
//	go test -run Situations -v
package bench
