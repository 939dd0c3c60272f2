// Package chaos tests a cluster of built binaries while things go wrong:
// processes are killed and paused, every direction of every link between two
// nodes can be cut, slowed or reset, disks hang, fill up and fail, and clocks
// step. Clients keep asking all the while, and the history of all that they
// asked and were told is checked against models of the rules.
//
// It has no code of its own and drives the program by HTTP, by the operators'
// commands and by signals only, so that nothing but the binary can make a test
// pass. Bugs are planted to see that they are caught. What a single package
// promises is tested beside that package.
//
// "go test" plays the quick faults once. -rounds (or MINTMARK_CHAOS_ROUNDS) plays
// so many, drawn at random, and prints what bit and what it cost. -faults plays
// those faults once whose names match. The build tag long adds the tests that
// take long by nature.
package chaos
