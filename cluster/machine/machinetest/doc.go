// Package machinetest is a toy machine for tests: registers that are set, and
// counters that are raised by one caller who knows their value.
package machinetest
