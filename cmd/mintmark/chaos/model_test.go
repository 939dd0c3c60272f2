package chaos

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// A model is a rule as a state machine of one grant or client: the states that may follow
// an op. A history obeys it if there is an order of the ops that the machine can follow
// and in which no op precedes one that had been answered when it was sent
// (linearizability).
type model[S comparable] struct {
	name  string
	first S
	// key returns the machine to which an op belongs; "" for none.
	key  func(op) string
	step func(S, op) []S
	// settled is optional: the time from which an op with an unknown outcome can no
	// longer have an effect. Fewer ops are then open at a time, and the check is faster.
	settled func(part []op, o op) (time.Duration, bool)
}

// A verdict is the result for one machine's part of a history.
type verdict struct {
	model, key string
	result     porcupine.CheckResult
	ops        []op
}

func (v verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s: %s\n", v.model, v.key, v.result)
	for _, o := range v.ops {
		b.WriteString(o.String() + "\n")
	}
	return b.String()
}

// checkLimit bounds the search for an order. A search that takes longer is undecided.
const checkLimit = 20 * time.Second

// check returns the parts that are not linearizable, or could not be decided.
func (m model[S]) check(ops []op) (bad []verdict, checked int) {
	parts := map[string][]op{}
	for _, o := range ops {
		if k := m.key(o); k != "" {
			parts[k] = append(parts[k], o)
		}
	}
	p := m.porcupine()
	for key, part := range parts {
		slices.SortStableFunc(part, func(a, b op) int { return cmp.Compare(a.Start, b.Start) })
		if r := porcupine.CheckOperationsTimeout(p, m.operations(part), checkLimit); r != porcupine.Ok {
			bad = append(bad, verdict{m.name, key, r, part})
		}
	}
	return bad, len(parts)
}

func (m model[S]) porcupine() porcupine.Model {
	n := porcupine.NondeterministicModel{
		Init: func() []any { return []any{m.first} },
		Step: func(state, input, _ any) []any {
			var next []any
			for _, s := range m.step(state.(S), input.(op)) {
				next = append(next, s)
			}
			return next
		},
	}
	return n.ToModel()
}

// operations gives each op its time. An op with an unknown outcome may take effect at any
// time after it was sent; one without an effect is left out.
func (m model[S]) operations(ops []op) []porcupine.Operation {
	var list []porcupine.Operation
	for _, o := range ops {
		if o.Class == noEffect {
			continue
		}
		end := int64(o.End)
		if o.Class == unknown {
			end = math.MaxInt64
			if m.settled != nil {
				if at, ok := m.settled(ops, o); ok {
					end = int64(max(at, o.End))
				}
			}
		}
		list = append(list, porcupine.Operation{Input: o, Call: int64(o.Start), Return: end})
	}
	return list
}
