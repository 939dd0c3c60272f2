package chaos

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A report is the result of a history.
type report struct {
	violations []string
	undecided  []verdict // on parts of the history without a result in time
	late       []verdict // on grants that were ended by a late request
	grants     int       // checked
	ops        map[kind]int
	shared     map[string]int            // successful refreshes of agents, by publisher
	took       map[class][]time.Duration // except nodes that could not answer
}

// judge checks a finished history.
func (w *env) judge() report {
	ops := w.aged(w.h.all())
	r := report{violations: w.h.allFaults(), ops: map[kind]int{}, shared: map[string]int{}, took: map[class][]time.Duration{}}
	for _, o := range ops {
		r.ops[o.Kind]++
		if o.Kind == refresh && o.Class == ok && o.Publisher != "" {
			r.shared[o.Publisher]++
		}
		if o.Kind != allow && !w.excused(o) {
			r.took[o.Class] = append(r.took[o.Class], o.End-o.Start)
		}
	}
	bad, n := chainModel(false).check(withEnds(ops))
	r.grants = n
	for _, v := range bad {
		if v.result == porcupine.Illegal {
			worse, _ := chainModel(true).check(v.ops)
			if len(worse) == 0 {
				r.late = append(r.late, v)
				continue
			}
			v = worse[0]
		}
		r.add(v)
	}
	for _, check := range []func([]op) ([]verdict, int){secretModel.check, stateModel.check, publisherModel.check} {
		bad, _ := check(ops)
		for _, v := range bad {
			r.add(v)
		}
	}
	r.violations = append(r.violations, timeRunsOn(ops)...)
	r.violations = append(r.violations, withinCeilings(ops)...)
	r.violations = append(r.violations, nothingFromTheFuture(ops, w.clockAt)...)
	r.violations = append(r.violations, w.keyLog.keysWereKnown(ops)...)
	r.violations = append(r.violations, w.keyLog.keysStayed(ops)...)
	r.violations = append(r.violations, w.nothingTakesLong(ops)...)
	return r
}

func (r *report) add(v verdict) {
	if v.result == porcupine.Unknown {
		r.undecided = append(r.undecided, v)
		return
	}
	r.violations = append(r.violations, v.String())
}

// timeRunsOn checks S7: a token of a later generation is not older, and the scope of a
// grant does not change. That of an agent's grant is checked by withinCeilings.
func timeRunsOn(ops []op) (bad []string) {
	type span struct{ first, last int64 }
	issued := map[string]map[uint32]*span{}
	for _, o := range ops {
		if o.Class != ok || o.IssuedAt == 0 {
			continue
		}
		if o.Publisher == "" && o.Scope != scopes {
			bad = append(bad, fmt.Sprintf("S7: the scope of grant %s is %q", o.Grant, o.Scope))
		}
		if issued[o.Grant] == nil {
			issued[o.Grant] = map[uint32]*span{}
		}
		r := issued[o.Grant][o.Got]
		if r == nil {
			r = &span{o.IssuedAt, o.IssuedAt}
			issued[o.Grant][o.Got] = r
		}
		r.first, r.last = min(r.first, o.IssuedAt), max(r.last, o.IssuedAt)
	}
	for grant, gens := range issued {
		for gen, r := range gens {
			if before := gens[gen-1]; before != nil && before.last > r.first {
				bad = append(bad, fmt.Sprintf("S7: time ran back for grant %s between generations %d and %d: %d, %d", grant, gen-1, gen, before.last, r.first))
			}
		}
	}
	return bad
}

// clockTolerance is how far the times in a token may be ahead of the clocks: the
// tolerance of nodes for differences between their clocks.
const clockTolerance = 10 * time.Second

// nothingFromTheFuture returns the tokens that are ahead of the clocks: a wrong clock
// has stamped them.
func nothingFromTheFuture(ops []op, clock func(time.Duration) time.Time) (bad []string) {
	for _, o := range ops {
		if o.Class != ok || o.IssuedAt == 0 {
			continue
		}
		latest := clock(o.End)
		if before := clock(o.Start); before.After(latest) { // the clocks were set back meanwhile
			latest = before
		}
		if by := time.Unix(o.IssuedAt, 0).Sub(latest); by > clockTolerance {
			bad = append(bad, fmt.Sprintf("a token is %s ahead of the clocks: %s", by, o))
		}
	}
	return bad
}

// maxRequestTime is the longest time for a request (L2).
const maxRequestTime = 10 * time.Second

// maxRefusalTime is the longest time for a refusal without a proposal: one second, and
// another one for a busy machine.
const maxRefusalTime = 2 * time.Second

// An excuse is a time in which a node can't answer.
type excuse struct {
	node     string
	from, to time.Duration
}

// excused reports whether the node could not answer an op in time.
func (w *env) excused(o op) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.excuses, func(e excuse) bool { return e.node == o.Node && o.Start < e.to && o.End > e.from })
}

// nothingTakesLong checks L2.
func (w *env) nothingTakesLong(ops []op) (bad []string) {
	for _, o := range ops {
		// An authorization takes several requests.
		took := o.End - o.Start
		switch {
		case o.Kind == allow || w.excused(o):
		case took > maxRequestTime:
			bad = append(bad, fmt.Sprintf("L2: a request outlived its deadline: %s", o))
		case took > maxRefusalTime && o.Class == noEffect:
			bad = append(bad, fmt.Sprintf("L2: nothing was proposed, and that took %s: %s", took, o))
		}
	}
	return bad
}

// finalCheck checks S6: everything acknowledged still exists. Each grant is used once
// more, and the models determine what the answer must be.
func (w *env) finalCheck(l *load) {
	a := newApplication(w)
	work := make(chan *grant)
	var all sync.WaitGroup
	for range chains {
		all.Go(func() {
			for g := range work {
				if len(g.tokens) < 2 {
					continue
				}
				for range maxTries {
					if o, _ := a.refresh(context.Background(), w.c.any(), g, g.gen(), g.secret); o.Class == ok || o.Class == refused {
						break
					}
					backOff(context.Background())
				}
			}
		})
	}
	for _, g := range l.grants {
		work <- g
	}
	close(work)
	all.Wait()
}

// requireSameState checks S8: at the same applied index all nodes have the same state.
func (w *env) requireSameState() error {
	if w.c.single {
		return nil
	}
	var last error
	same := func() bool {
		var sums []testkit.Checksum
		for _, n := range w.c.all() {
			s, err := n.Checksum()
			if err != nil {
				last = err
				return false
			}
			sums = append(sums, s)
		}
		for _, s := range sums[1:] {
			if s.Applied != sums[0].Applied {
				last = fmt.Errorf("S8: the applied indexes differ: %v", sums)
				return false
			}
		}
		last = nil
		for _, s := range sums[1:] {
			if s.Checksum != sums[0].Checksum {
				last = fmt.Errorf("S8: at index %d the states differ: %v", s.Applied, sums)
			}
		}
		return true
	}
	if !testkit.Until(eventually, same) && last == nil {
		last = fmt.Errorf("S8: the nodes do not become idle")
	}
	return last
}

// secretShapes are patterns of everything that must never be written: secrets, codes,
// refresh tokens, sessions, access tokens, and secrets of this test. Each begins with its
// prefix, which makes the search of large files much faster.
var secretShapes = map[string]*regexp.Regexp{
	"mmc_":             regexp.MustCompile(`^mmc_[A-Za-z0-9_-]{40}`),
	"mms_":             regexp.MustCompile(`^mms_[A-Za-z0-9_-]{40}`),
	"mmr_":             regexp.MustCompile(`^mmr_[A-Za-z0-9_-]{40}`),
	"mmx_":             regexp.MustCompile(`^mmx_[A-Za-z0-9_-]{40}`),
	"eyJ":              regexp.MustCompile(`^eyJ[A-Za-z0-9_-]{10,200}\.eyJ`),
	"secret-marker-":   regexp.MustCompile(`^secret-marker-[0-9a-f]{48}`),
	"password-marker-": regexp.MustCompile(`^password-marker-[0-9a-f]{48}`),
}

// secretIn returns the beginning of a secret in a text, or "".
func secretIn(text []byte) string {
	const shown, longest = 12, 256
	for prefix, shape := range secretShapes {
		for rest := text; ; rest = rest[1:] {
			i := bytes.Index(rest, []byte(prefix))
			if i < 0 {
				break
			}
			rest = rest[i:]
			if shape.Match(rest[:min(len(rest), longest)]) {
				return string(rest[:shown])
			}
		}
	}
	return ""
}

// scan checks the other part of S9: no file of any node has a secret.
func (w *env) scan() (bad []string) {
	seen := false
	look := func(path string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen = seen || bytes.Contains(text, []byte(marker))
		if hit := secretIn(text); hit != "" {
			bad = append(bad, fmt.Sprintf("S9: %s has %s… in clear", path, hit))
		}
		return nil
	}
	err := filepath.WalkDir(w.c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, "new-secret") || strings.HasSuffix(path, ".token") {
			return err
		}
		return look(path)
	})
	if err != nil {
		bad = append(bad, "S9: read files: "+err.Error())
	}
	if !seen {
		bad = append(bad, "S9: the scan does not find the marker either")
	}
	return bad
}
