package chaos

import "time"

// A leap is a step of the clocks of all nodes that is not taken back.
type leap struct {
	at, by time.Duration
}

// A halt is a time in which nothing could be committed, which does not count against
// the retry window. It lies between from and to, and lasted at least from begun to
// ended, unless these are equal.
type halt struct {
	from, begun, ended, to time.Duration
}

// mostHalt is how much of one halt is not counted.
const mostHalt = 24 * time.Hour

// leap records a step of the clocks of all nodes.
func (w *world) leap(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaps = append(w.leaps, leap{w.c.now(), by})
}

// noteHalt records a halt.
func (w *world) noteHalt(h halt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.halts = append(w.halts, h)
}

// setClock sets the clock of a node to differ by so much from those of the others.
func (w *world) setClock(n *node, by time.Duration) error {
	now := w.c.now()
	return n.tell("clock", (w.told(now) - now + by).String())
}

// told returns what the clocks of nodes show at a time of the history, since the start
// of the cluster.
func (w *world) told(at time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown := at
	for _, l := range w.leaps {
		if at >= l.at {
			shown += l.by
		}
	}
	return shown
}

// clock returns what the clocks of nodes show now.
func (w *world) clock() time.Time { return w.clockAt(w.c.now()) }

// clockAt returns what the clocks of nodes show at a time of the history.
func (w *world) clockAt(at time.Duration) time.Time { return w.c.started.Add(w.told(at)) }

// counted returns bounds for how much of the time between from and to counts against
// the retry window, by the clocks of nodes.
func (w *world) counted(from, to time.Duration) (least, most time.Duration) {
	w.mu.Lock()
	halts := w.halts
	w.mu.Unlock()
	between := func(a, b time.Duration) time.Duration {
		a, b = max(a, from), min(b, to)
		return min(max(w.told(max(a, b))-w.told(a), 0), mostHalt)
	}
	least = w.told(to) - w.told(from)
	most = least
	for _, h := range halts {
		least -= between(h.from, h.to)
		most -= between(h.begun, h.ended)
	}
	return least, most
}
