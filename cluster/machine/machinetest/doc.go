// Package machinetest is a small machine for tests: registers that are set, and counters
// that are incremented by a caller that knows their value.
package machinetest
