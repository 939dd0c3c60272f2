package limit

import (
	"net/netip"
	"time"
)

// Networks allows each network a burst of events and then a steady rate. An IPv6 address
// belongs to several networks, and each must allow the event: providers assign anything
// from a /64 to a /48, and a subscriber with a wide prefix has thousands of narrow ones.
// Wider networks are allowed more, since they may belong to many subscribers.
type Networks struct{ levels []level } // the widest first

type level struct {
	bits    int
	limiter *Limiter
}

// NewNetworks returns a Networks that allows an IPv4 address, or a /64, the same as New
// allows a key; a /56 four times as much, and a /48 sixteen times.
func NewNetworks(perSecond float64, burst, keys int) *Networks {
	times := func(bits, n int) level { return level{bits, New(float64(n)*perSecond, n*burst, keys)} }
	return &Networks{levels: []level{times(48, 16), times(56, 4), times(64, 1)}}
}

// Try is like Limiter.Try, for an address. The wait is that of the widest network without
// events left; an event that a narrower network refuses is not counted in a wider one.
func (n *Networks) Try(address string, now time.Time) (wait time.Duration, undo func()) {
	var taken []func()
	undo = func() {
		for _, one := range taken {
			one()
		}
	}
	ip, err := netip.ParseAddr(address)
	wide := err == nil && !ip.Unmap().Is4()
	for _, l := range n.levels {
		if l.bits < narrow && !wide {
			continue
		}
		wait, back := l.limiter.Try(prefix(address, l.bits), now)
		if wait > 0 {
			undo()
			return wait, func() {}
		}
		taken = append(taken, back)
	}
	return 0, undo
}
