package parts

import (
	"strconv"
)

var Recently = recently

// RefusedClients returns the number of clients with recorded refusals at the token endpoint.
func RefusedClients(r *Refusals) int { return len(r.programs.byClient) }

// CountMany requests many numbers while no walk can start, and returns how many counters are
// kept.
func CountMany(numbers int) int {
	n := NewCounters[int]()
	n.running <- struct{}{}
	for i := range numbers {
		n.startCount(strconv.Itoa(i), 1, func() int { return i })
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.byName)
}
