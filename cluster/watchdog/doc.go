// Package watchdog says whether a node's clock and disk can be trusted.
//
// It owns the clock rule (whose clock may lead and stamp), the probe of the disk
// under the data folder, and the thresholds of free space. It takes readings and
// samples and returns verdicts: what a node then does, transfer leadership, isolate
// itself or ask an operator, is decided by package cluster.
//
//	clock.go        the rule, and the clock that stamps; clock_peers.go, by the others' clocks
//	clock_start.go  at a start; clock_state.go, when state time is ahead of all clocks
//	time_file.go    times that outlive the process
//	disk.go         a probe with a time limit; disk_folder.go, of a folder
//	space.go        levels of free space; free_space.go, before a folder is made
package watchdog
