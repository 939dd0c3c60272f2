package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// rotated announces a key and ends when the key is used. Judged: every node publishes a
// signing key before its first token is issued, and until its last token expires.
func rotated(purpose string) fault {
	var id string
	return fault{
		name: "rotation of a " + purpose + " key", majority: true, planned: true,
		inject: func(r *round) (err error) {
			id, err = r.rotate(r.c.any(), purpose)
			return err
		},
		hadEffect: func(r *round) bool { return r.used(purpose, id) },
		heal:      func(*round) error { return nil },
	}
}

// rotatedUnderKill kills the leader after it announced a key. Judged: the next leader
// activates the key.
func rotatedUnderKill() fault {
	f := rotated("signing")
	f.name += ", and a kill of the leader"
	f.crash, f.planned, f.moves = true, false, 1
	announce := f.inject
	f.inject = func(r *round) error {
		err := announce(r)
		r.hits(r.leader)
		r.strike()
		r.leader.Process().Kill()
		return errors.Join(err, r.restart())
	}
	return f
}

// rotatedWithout announces a key while a node is down. Judged: the key is not used
// before that node is back, and is used then.
func rotatedWithout() fault {
	var id string
	f := killed(aFollower)
	f.name = "rotation of a signing key while a node is down"
	f.lasts = 8 * time.Second // longer than two max-ages and keyStepInterval
	kill := f.inject
	f.inject = func(r *round) error {
		if err := kill(r); err != nil {
			return err
		}
		var err error
		id, err = r.rotate(r.leader, "signing")
		return err
	}
	start := f.heal
	f.heal = func(r *round) error {
		if r.used("signing", id) {
			r.h.addFault("S9: key %s is used, and a node was down that could not know it", id)
		}
		if err := start(r); err != nil {
			return err
		}
		if !testkit.Until(eventually, func() bool { return r.used("signing", id) }) {
			return fmt.Errorf("key %s is not used after the node is back", id)
		}
		return nil
	}
	return f
}

func (r *round) rotate(n *node, purpose string) (id string, err error) {
	a := n.Decided("", "keys", "rotate", "--purpose", purpose, "-o", "json")
	if a.Code != exitOK {
		return "", fmt.Errorf("keys rotate: exit code %d: %s", a.Code, a.Err)
	}
	var made struct{ ID string }
	return made.ID, json.Unmarshal([]byte(a.Out), &made)
}

// used reports whether a token made with a key was received since the round began.
func (r *round) used(purpose, id string) bool {
	return slices.ContainsFunc(r.h.since(r.injected), func(o op) bool {
		if purpose == "signing" {
			return o.Key == id
		}
		return fmt.Sprint("c", o.MadeUnder) == id
	})
}

// clocksAdvanced simulates elapsed time: all nodes are stopped, and started again with
// clocks that are ahead. No clock jumps while a node runs, so the nodes accept their
// clocks. then judges the keys that became due meanwhile.
func clocksAdvanced(by time.Duration, then func(*round) error) fault {
	return fault{
		name: "nothing for " + by.String(), moves: 2,
		inject: func(r *round) error {
			if err := eachOf(r.hits(r.c.all()...), func(n *node) error { return n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime) }); err != nil {
				return err
			}
			r.recordClockStep(by)
			return eachOf(r.victims, func(n *node) error {
				n.Flags = append(n.Flags, "--trust-clock") // nothing confirms such a clock
				return errors.Join(r.setClock(n, 0), n.start())
			})
		},
		hadEffect: func(r *round) bool { return r.controlApplied("clock") },
		heal:      then,
	}
}

// keyStepInterval is how often a leader checks whether a key is due.
const keyStepInterval = 5 * time.Second

// requireKeysKept waits until a leader has checked for keys to drop; it must drop none,
// which the judge verifies.
func requireKeysKept(r *round) error {
	if !testkit.Until(eventually, func() bool { return r.c.leader() != nil }) {
		return errors.New("no leader")
	}
	before := r.keyLog.maxKeys()
	time.Sleep(keyStepInterval + time.Second)
	if now := r.keyLog.maxKeys(); now < 2 || now < before {
		return fmt.Errorf("of %d keys %d are left", before, now)
	}
	return nil
}

// requireOldKeysDropped waits until no node publishes more than the one key in use.
func requireOldKeysDropped(r *round) error {
	if !testkit.Until(eventually, func() bool { return r.keyLog.maxKeys() == 1 }) {
		return fmt.Errorf("there are still %d keys", r.keyLog.maxKeys())
	}
	return nil
}
