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

// A model is a rule of PRODUCT as a machine of one grant or client: from a
// state, what may come after an op. A history obeys it where the ops can be put
// in an order that the machine can follow and in which no op comes before one
// that had been answered when it was asked (linearizability).
type model[S comparable] struct {
	name  string
	first S
	// key says which machine an op belongs to; "" for none.
	key  func(op) string
	step func(S, op) []S
	// settled is optional: from when on an op of unknown fate can have no effect
	// any more. Fewer ops are open at a time then, and the check is faster.
	settled func(part []op, o op) (time.Duration, bool)
}

// A verdict on one machine's part of a history.
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

// checkLimit bounds the search for an order. One that takes longer has found
// nothing wrong, and nothing right either.
const checkLimit = 20 * time.Second

// check returns what is not linearizable, or could not be decided.
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

// operations gives each op its time. One of unknown fate may take effect at any
// time after it was asked; one without effect says nothing and is left out.
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
