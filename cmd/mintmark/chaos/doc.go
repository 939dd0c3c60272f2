// Package chaos tests a cluster of built binaries while things go wrong:
// processes are killed and paused, every direction of every link between two
// nodes can be cut, slowed or reset, disks hang, fill up and fail, and clocks
// step. Clients keep asking all the while, and the history of all that they
// asked and were told is checked against models of the rules.
//
// It has no code of its own and drives the program by HTTP, by the operators'
// commands and by signals only, so that nothing but the binary can make a test
// pass. What a single package promises is tested beside that package.
//
// "go test" plays the faults of the gate, in a fixed order. -rounds (or
// MINTMARK_CHAOS_ROUNDS) plays so many faults drawn at random, and prints which had an
// effect and what each cost; -seed repeats a draw. -faults plays those faults once whose
// names match. The build tag long adds the tests that take long by nature, and the
// planted bugs that must be found.
package chaos
