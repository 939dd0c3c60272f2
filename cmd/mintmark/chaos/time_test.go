package chaos

import "time"

// A clockStep is a permanent step of the clocks of all nodes.
type clockStep struct {
	at, by time.Duration
}

// A halt is a time in which nothing could be committed, which does not count against
// the retry window. It lies between from and to, and lasted at least from begun to
// ended, unless these are equal.
type halt struct {
	from, begun, ended, to time.Duration
}

// maxHalt is the longest time of one halt that is not counted.
const maxHalt = 24 * time.Hour

// recordClockStep records a step of the clocks of all nodes.
func (w *env) recordClockStep(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clockSteps = append(w.clockSteps, clockStep{w.c.now(), by})
}

// recordHalt records a halt.
func (w *env) recordHalt(h halt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.halts = append(w.halts, h)
}

// setClock sets the offset of a node's clock from those of the others.
func (w *env) setClock(n *node, by time.Duration) error {
	now := w.c.now()
	return n.writeControl("clock", (w.clockElapsed(now) - now + by).String())
}

// clockElapsed returns the time since the start of the cluster, by the clocks of nodes,
// at a time of the history.
func (w *env) clockElapsed(at time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown := at
	for _, l := range w.clockSteps {
		if at >= l.at {
			shown += l.by
		}
	}
	return shown
}

// clock returns the current time by the clocks of nodes.
func (w *env) clock() time.Time { return w.clockAt(w.c.now()) }

// clockAt returns the time by the clocks of nodes at a time of the history.
func (w *env) clockAt(at time.Duration) time.Time { return w.c.started.Add(w.clockElapsed(at)) }

// countedTime returns bounds for how much of the time between from and to counts against
// the retry window, by the clocks of nodes.
func (w *env) countedTime(from, to time.Duration) (least, most time.Duration) {
	w.mu.Lock()
	halts := w.halts
	w.mu.Unlock()
	between := func(a, b time.Duration) time.Duration {
		a, b = max(a, from), min(b, to)
		return min(max(w.clockElapsed(max(a, b))-w.clockElapsed(a), 0), maxHalt)
	}
	least = w.clockElapsed(to) - w.clockElapsed(from)
	most = least
	for _, h := range halts {
		least -= between(h.from, h.to)
		most -= between(h.begun, h.ended)
	}
	return least, most
}
