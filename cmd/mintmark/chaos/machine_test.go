package chaos

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A machine measures the load of the machine. On a busy machine a bound may be missed
// although the cluster works well. The bounds stay the same; the measurement is reported
// beside them, as a help for interpretation.
type machine struct {
	c    *cluster
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	stalls []lateness // guarded by mu
}

// A lateness is an interval in which this process ran late or not at all.
type lateness struct{ end, late time.Duration }

const (
	machineTick = 20 * time.Millisecond
	minStall    = 50 * time.Millisecond
)

func watchMachine(c *cluster) *machine {
	m := &machine{c: c, stop: make(chan struct{})}
	m.done.Go(func() {
		for {
			before := m.c.now()
			select {
			case <-m.stop:
				return
			case <-time.After(machineTick):
			}
			if late := m.c.now() - before - machineTick; late > minStall {
				m.mu.Lock()
				m.stalls = append(m.stalls, lateness{m.c.now(), late})
				m.mu.Unlock()
			}
		}
	})
	return m
}

func (m *machine) end() {
	close(m.stop)
	m.done.Wait()
}

// since describes the load of the machine since from.
func (m *machine) since(from time.Duration) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all, worst time.Duration
	for _, s := range m.stalls {
		if s.end >= from {
			all, worst = all+s.late, max(worst, s.late)
		}
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Join(strings.Fields(string(text))[:3], " ")
	}
	return fmt.Sprintf("load %s on %d processors, this process was stalled for %s of %s, at most %s at a time", load, runtime.NumCPU(),
		all.Round(time.Millisecond), (m.c.now() - from).Round(time.Millisecond), worst.Round(time.Millisecond))
}
