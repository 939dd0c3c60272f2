// Package watchdog determines whether a node's clock and disk can be trusted.
//
// It owns the clock rule (which node's clock may lead and stamp), the probe of the disk
// under the data folder, and the thresholds of free space. It takes readings and samples
// and returns verdicts. Package cluster decides on the reaction: to transfer leadership,
// to isolate the node, or to ask an operator.
//
//	clock.go        the rule, and the clock that stamps; clock_peers.go, the others' clocks
//	clock_start.go  the clock at a start; clock_state.go, state time ahead of all clocks
//	time_file.go    times that survive the process
//	disk.go         a probe with a time limit; disk_folder.go, of a folder
//	space.go        levels of free space; free_space.go, the check before a folder is made
//	device_unix.go  the number of a file system
package watchdog
