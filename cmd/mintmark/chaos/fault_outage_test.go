package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// downFor kills all nodes, and starts them with clocks that are ahead by d, as if they
// had been down for d. Judged: that time does not count against the retry window.
func downFor(d time.Duration) fault {
	f := killed(allNodes)
	f.name = "all nodes down for " + d.String()
	f.halts = true
	kill := f.inject
	f.inject = func(r *round) error {
		if err := kill(r); err != nil {
			return err
		}
		r.halted = r.c.now()
		r.recordClockStep(d)
		return eachOf(r.victims, func(n *node) error { return r.setClock(n, 0) })
	}
	return f
}

// noMajority extends a fault during which no leader has a majority. Judged: that time
// does not count against the retry window.
func noMajority(f fault, lasts time.Duration) fault {
	f.name += " for " + lasts.String()
	f.lasts, f.halts = lasts, true
	return f
}

// lostAnswers is the number of clients that lose the answer to a refresh before an
// outage.
const lostAnswers = 12

// beyondWindow is a fault in which nothing can be committed for longer than the retry
// window. Just before it some clients refresh and lose the answers. Afterwards each
// presents the same token again. Judged: each gets the refresh token that was lost and
// can continue with it, so that no client is signed out.
func beyondWindow(f fault) fault {
	begin, end := f.inject, f.heal
	f.name += ", answers lost before"
	f.inject = func(r *round) error {
		a := newApplication(r.env)
		for _, g := range r.codes(lostAnswers) {
			o, token := a.exchange(context.Background(), r.leader, g, false)
			if o.Class != ok {
				return fmt.Errorf("exchange: %s", o)
			}
			g.tokens = append(g.tokens, token)
			if o, _ := a.refresh(context.Background(), r.leader, g, g.gen(), g.secret); o.Class != ok {
				return fmt.Errorf("refresh: %s", o)
			}
			r.heldGrants = append(r.heldGrants, g)
		}
		if len(r.heldGrants) < lostAnswers {
			return errors.New("no codes")
		}
		return begin(r)
	}
	f.heal = func(r *round) error {
		if err := end(r); err != nil {
			return err
		}
		signedOut := 0
		for _, g := range r.heldGrants {
			for range 2 {
				if o, err := r.refreshUntilDecided(g); err != nil {
					return err
				} else if o.Class == refused {
					signedOut++
					break
				}
			}
		}
		if signedOut > 0 {
			r.h.addFault("%s signed out %d of %d clients", f.name, signedOut, len(r.heldGrants))
		}
		return nil
	}
	return f
}

// refreshUntilDecided repeats a refresh of a grant until it is decided.
func (w *env) refreshUntilDecided(g *grant) (o op, err error) {
	a, token := newApplication(w), ""
	defer a.http.CloseIdleConnections()
	if !testkit.Until(eventually, func() bool {
		o, token = a.refresh(context.Background(), w.c.any(), g, g.gen(), g.secret)
		return o.Class == ok || o.Class == refused
	}) {
		return o, fmt.Errorf("nothing is decided: %s", o)
	}
	if o.Class == ok {
		g.tokens = append(g.tokens, token)
	}
	return o, nil
}
