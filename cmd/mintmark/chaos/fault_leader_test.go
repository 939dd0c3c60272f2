package chaos

import (
	"fmt"
	"sync/atomic"
	"time"
)

// juggled transfers leadership repeatedly, which interrupts operations of leaders.
// Judged: writes continue meanwhile.
func juggled(every, lasts time.Duration) fault {
	var handed atomic.Int64
	var stop, stopped chan struct{}
	least := int64(lasts / every / 4) // a transfer takes time, and some are refused
	return fault{
		name: fmt.Sprintf("transfer of leadership every %s for %s", every, lasts), lasts: lasts,
		majority: true, planned: true, moves: int(lasts / every),
		inject: func(r *round) error {
			handed.Store(0)
			stop, stopped = make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				tick := time.NewTicker(every)
				defer tick.Stop()
				for {
					select {
					case <-tick.C:
					case <-stop:
						return
					}
					if r.c.any().run("cluster", "transfer-leader").Code == exitOK {
						handed.Add(1)
					}
				}
			}()
			return nil
		},
		hadEffect: func(*round) bool { return handed.Load() >= least },
		heal: func(*round) error {
			close(stop)
			<-stopped
			return nil
		},
	}
}
