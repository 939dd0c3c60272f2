package limit

import (
	"net/netip"
	"time"
)

// Networks allows each network a burst of events and then a steady rate. An IPv6
// address belongs to several, and each has to allow the event: providers hand out
// anything from a /64 to a /48, and whoever has a wide one has thousands of narrow
// ones. A wider one is allowed more, because it may be many people's.
type Networks struct{ levels []level } // the widest first

type level struct {
	bits    int
	limiter *Limiter
}

// NewNetworks makes one that allows an IPv4 address, or a /64, what New would
// allow a key; a /56 four times, and a /48 sixteen times as much.
func NewNetworks(perSecond float64, burst, keys int) *Networks {
	times := func(bits, n int) level { return level{bits, New(float64(n)*perSecond, n*burst, keys)} }
	return &Networks{levels: []level{times(48, 16), times(56, 4), times(64, 1)}}
}

// Try is Limiter.Try for an address. The widest network that is full says how
// long to wait, and what a narrower one refuses costs a wider one nothing.
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
