// Command mutate breaks one condition of the program at a time and runs the tests
// that evaluate it. A condition that no test misses is a survivor: a rule that could
// be deleted unnoticed. Each survivor is killed by a new test of its package, or
// explained in explained.txt; anything else fails the run, and so does an explanation
// that is not needed any more.
//
// A condition is an operand of if, case, &&, || and !, and each comparison. It has two
// mutants: always true and always false. The conditions of for loops stay as they are,
// because a loop that never ends proves nothing.
//
// All mutants of a family are compiled into one test binary, through an overlay: the
// work tree is never written to. Each test is run once, alone, to learn which
// conditions it sees true and false. A mutant then runs against the tests that saw
// the other value, the fastest first.
//
//	go run ./cmd/mintmark/internal/mutate                     # all families
//	go run ./cmd/mintmark/internal/mutate -files 'refresh'    # files by name
package main
