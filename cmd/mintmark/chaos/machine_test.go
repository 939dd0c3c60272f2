package chaos

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A machine is how busy the machine is: what takes long beside it may say nothing
// about the cluster, and a person has to judge by that. The bounds stay what they
// are.
type machine struct {
	c    *cluster
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	stalls []lateness // guarded by mu
}

// A lateness is a time in which this process was not let run, or not soon.
type lateness struct{ end, late time.Duration }

const (
	machineTick = 20 * time.Millisecond
	leastStall  = 50 * time.Millisecond
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
			if late := m.c.now() - before - machineTick; late > leastStall {
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

// since says how busy the machine was from a time on.
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
