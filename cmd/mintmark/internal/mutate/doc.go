// Command mutate breaks one condition of the program at a time and runs the tests that
// evaluate it. A mutant with which all tests pass is a survivor: a rule that could be
// deleted unnoticed. Each survivor is killed by a new test of its package, or explained
// in explained.txt. Any other survivor fails the run, and so does an unneeded
// explanation.
//
// A condition is an operand of if, case, &&, || and !, and each comparison. It has two
// mutants: always true and always false. The conditions of for loops stay as they are,
// because a loop that never ends proves nothing.
//
// All mutants of a family are compiled into one test binary, through an overlay: the work
// tree is never written to. Each test is run once, alone, to learn which values of the
// conditions it causes. A mutant is then tested with the tests that caused the other
// value, the fastest first.
//
//	go run ./cmd/mintmark/internal/mutate                     # all families
//	go run ./cmd/mintmark/internal/mutate -files 'refresh'    # files by name
package main
