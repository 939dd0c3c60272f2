package chaos

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// Bounds that a cluster must keep.
const (
	maxWriteGap    = 3 * time.Second  // L1: with a healthy majority, after a fault and after its end
	maxCatchUp     = 10 * time.Second // L3: for a healed node, after its start
	extraTerms     = 1                // L4: an election with split votes increases the term twice
	maxStart       = 15 * time.Second // for a node to start
	maxEffectDelay = 15 * time.Second // for a fault to have an effect

	// minWrites is the least number of acknowledged writes, before the fault and again
	// after it, without which a round is void.
	minWrites = 30
)

// A campaign is a sequence of faults on one cluster under load.
type campaign struct {
	env     *env
	load    *load
	summary *summary
	machine *machine
}

// summary is the result of all campaigns.
type summary struct {
	rounds, voids int
	effective     map[string]int
	voidReasons   []string
	violations    []string
	reports       []report
	machines      []string // load of the machine during each cluster

	afterCrash, afterPlan, afterHeal []time.Duration
	terms                            map[uint64]int
	began                            time.Time
}

func newSummary() *summary {
	return &summary{effective: map[string]int{}, terms: map[uint64]int{}, began: time.Now()}
}

func (s *summary) violated(format string, arguments ...any) {
	s.violations = append(s.violations, fmt.Sprintf(format, arguments...))
}

// run injects faults into a cluster and then judges the history.
func (s *summary) run(t testing.TB, c *cluster, faults ...fault) {
	t.Helper()
	w := newEnv(t, c)
	p := &campaign{env: w, load: startLoad(w), summary: s, machine: watchMachine(c)}
	defer p.machine.end()
	for _, f := range faults {
		p.play(f)
		if t.Failed() {
			break
		}
	}
	p.load.end()
	p.close()
	s.machines = append(s.machines, p.machine.since(0))
}

// maxPlays is how often a fault is injected if it had no effect, for example because no
// node was in the middle of an operation. Such a round proves nothing, so it is repeated.
// A round with a violation is not.
const maxPlays = 3

// play injects a fault, at most maxPlays times until it has an effect, and judges it.
func (p *campaign) play(f fault) {
	p.env.t.Helper()
	for range maxPlays {
		before := len(p.summary.violations)
		why := p.playOnce(f)
		p.summary.rounds++
		if len(p.summary.violations) > before {
			p.env.c.printTails()
			return
		}
		if why == "" {
			p.summary.effective[f.name]++
			return
		}
		p.summary.voids++
		p.summary.voidReasons = append(p.summary.voidReasons, f.name+": "+why)
		p.env.t.Logf("void: %s: %s", f.name, why)
	}
}

// playOnce returns why the round is void, or "".
func (p *campaign) playOnce(f fault) (void string) {
	t, w := p.env.t, p.env
	t.Helper()
	start := w.c.now()
	if !testkit.Until(maxStart, func() bool { return w.h.written(start) >= minWrites }) {
		return fmt.Sprintf("only %d writes before it", w.h.written(start))
	}
	r := &round{env: w, fault: f}
	if !testkit.Until(maxStart, func() bool { r.leader = w.c.leader(); return r.leader != nil }) {
		return "no leader before it"
	}
	term := p.term()

	r.injected = w.c.now()
	if err := f.inject(r); err != nil {
		void = "inject: " + err.Error()
	}
	if r.struck == 0 {
		r.struck = r.injected
	}
	h := halt{from: r.injected, begun: r.halted}
	if h.begun == 0 {
		h.begun = w.c.now()
	}
	hold := time.Now().Add(f.lasts)
	if void == "" && !testkit.Until(max(maxEffectDelay, f.lasts), func() bool { r.hadEffect = r.hadEffect || f.hadEffect(r); return r.hadEffect }) {
		void = "it had no effect"
	}
	time.Sleep(time.Until(hold)) // the fault lasts
	if f.majority && void == "" {
		p.writes(r, "during", r.struck)
	}
	if h.ended = h.begun; f.halts && void == "" {
		h.ended = w.c.now()
	}
	if err := f.heal(r); err != nil {
		p.summary.violated("%s: heal: %v", f.name, err)
	}
	r.healed = w.c.now()
	p.recover(r)
	if h.to = w.c.now(); !f.majority {
		w.recordHalt(h)
	}
	p.elections(r, term)
	t.Logf("%6.1fs %s", w.c.now().Seconds(), f.name)
	return void
}

// requireEffects fails the test if one of the faults never had an effect: then it was
// not tested.
func (s *summary) requireEffects(t testing.TB, faults []fault) {
	t.Helper()
	for _, f := range faults {
		if s.effective[f.name] == 0 {
			t.Errorf("%s never had an effect: %v", f.name, s.voidReasons)
		}
	}
}

// writes is L1: there must be a write within 3 s.
func (p *campaign) writes(r *round, when string, since time.Duration) {
	var gap time.Duration
	wrote := testkit.Until(maxWriteGap+maxStart, func() bool {
		var done bool
		gap, done = p.env.h.gap(since)
		return done
	})
	switch {
	case !wrote:
		p.summary.violated("L1: no write %s %s; %s", when, r.fault.name, p.machine.since(since))
		return
	case gap > maxWriteGap:
		p.summary.violated("L1: the first write %s %s took %s; %s", when, r.fault.name, gap, p.machine.since(since))
	}
	s := p.summary
	switch {
	case when == "after":
		s.afterHeal = append(s.afterHeal, gap)
	case r.fault.crash:
		s.afterCrash = append(s.afterCrash, gap)
	case r.fault.planned:
		s.afterPlan = append(s.afterPlan, gap)
	}
}

// recover waits until the cluster is healthy again, which must not take long.
func (p *campaign) recover(r *round) {
	w := p.env
	for _, n := range r.victims {
		w.mu.Lock()
		w.excuses = append(w.excuses, excuse{n.Name, r.injected, r.healed + time.Second})
		w.mu.Unlock()
	}
	for _, n := range w.c.all() {
		if !testkit.Until(maxStart, n.Ready) {
			p.summary.violated("L3: %s is not ready %s after %s; %s", n.Name, maxStart, r.fault.name, p.machine.since(r.healed))
			if !n.Running() { // so that the next round has the node
				_ = n.start()
			}
		}
	}
	ready := w.c.now()
	p.writes(r, "after", ready)
	if w.c.single {
		return
	}
	if !testkit.Until(maxCatchUp, func() bool { return p.caughtUp(ready) }) {
		p.summary.violated("L3: not all nodes caught up %s after %s; %s", maxCatchUp, r.fault.name, p.machine.since(ready))
	}
	if !testkit.Until(maxStart, func() bool { return w.h.written(ready) >= minWrites }) {
		p.summary.violated("only %d writes after %s", w.h.written(ready), r.fault.name)
	}
}

// caughtUp reports whether all nodes have applied everything that had been applied
// before.
func (p *campaign) caughtUp(time.Duration) bool {
	s, err := p.env.c.status()
	if err != nil {
		return false
	}
	var most uint64
	for _, m := range s.Nodes {
		most = max(most, m.Applied)
	}
	return testkit.Until(maxCatchUp/4, func() bool {
		now, err := p.env.c.status()
		if err != nil {
			return false
		}
		for _, m := range now.Nodes {
			if m.State == "unreachable" || m.Applied < most {
				return false
			}
		}
		return true
	})
}

func (p *campaign) term() uint64 {
	if p.env.c.single {
		return 0
	}
	s, err := p.env.c.status()
	if err != nil {
		return 0
	}
	return s.Term
}

// elections is L4. The term counts elections, won or not.
func (p *campaign) elections(r *round, before uint64) {
	if p.env.c.single {
		return
	}
	moved := p.term() - before
	p.summary.terms[moved]++
	if moved > uint64(r.fault.moves+extraTerms) {
		p.summary.violated("L4: %s moved the term by %d; %s", r.fault.name, moved, p.machine.since(r.injected))
	}
}

// close checks all grants once more, waits until the cluster is idle, and restarts it:
// every guarantee must also hold after that.
func (p *campaign) close() {
	w, s := p.env, p.summary
	w.t.Helper()
	w.finalCheck(p.load)
	if err := w.requireSameState(); err != nil {
		s.violated("%v", err)
	}
	for _, n := range w.c.all() {
		if err := n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime); err != nil {
			s.violated("%s: %v", n.Name, err)
		}
	}
	for _, n := range w.c.all() {
		if err := n.start(); err != nil {
			s.violated("%s does not start again: %v", n.Name, err)
		}
	}
	for _, n := range w.c.all() {
		if !testkit.Until(maxStart, n.Ready) {
			s.violated("%s is not ready after a restart: %s", n.Name, n.Process().LastLine())
		}
	}
	w.finalCheck(p.load)
	if err := w.requireSameState(); err != nil {
		s.violated("after a restart: %v", err)
	}
	r := w.judge()
	for _, it := range w.agents {
		if r.shared[it.publisher] == 0 {
			s.violated("no agent of %s was refreshed", it.publisher)
		}
	}
	s.violations = append(append(s.violations, r.violations...), w.scan()...)
	s.reports = append(s.reports, r)
}

// print logs the result, and fails the test if a guarantee was violated.
func (s *summary) print(t testing.TB) {
	t.Helper()
	ops, classes, shared := map[kind]int{}, map[class]int{}, map[string]int{}
	grants, total := 0, 0
	var late, undecided []verdict
	took := map[class][]time.Duration{}
	for _, r := range s.reports {
		grants, undecided, late = grants+r.grants, append(undecided, r.undecided...), append(late, r.late...)
		for k, n := range r.ops {
			ops[k] += n
			total += n
		}
		for publisher, n := range r.shared {
			shared[publisher] += n
		}
		for c, d := range r.took {
			classes[c] += len(d)
			took[c] = append(took[c], d...)
		}
	}
	t.Logf("%d rounds in %s, %d of them void: %v", s.rounds, time.Since(s.began).Round(time.Second), s.voids, s.voidReasons)
	t.Logf("%d operations on %d grants: %v, %v; refreshes of agents: %v", total, grants, ops, classes, shared)
	for _, c := range []class{ok, refused, noEffect, unknown} {
		t.Logf("answers %q took: %s", c, spread(took[c]))
	}
	t.Logf("faults with an effect: %v", s.effective)
	t.Logf("the machine: %s", strings.Join(s.machines, " | "))
	t.Logf("write gap after a crash of the leader: %s; after a planned stop: %s; after recovery: %s",
		spread(s.afterCrash), spread(s.afterPlan), spread(s.afterHeal))
	t.Logf("terms moved per fault: %v; grants ended by a late request: %d; undecided: %d; violations: %d",
		s.terms, len(late), len(undecided), len(s.violations))
	if len(late) > 0 {
		lines := strings.Split(strings.TrimSpace(late[0].String()), "\n")
		t.Errorf("a late request ended a grant; one of these ends:\n%s", strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
	for i, v := range s.violations {
		if i == 20 {
			t.Errorf("and %d more", len(s.violations)-i)
			break
		}
		t.Error(shortened(v))
	}
	for _, v := range undecided {
		t.Errorf("not decided in time, of %d ops: %s", len(v.ops), shortened(v.String()))
	}
}

func shortened(v string) string {
	const lines = 120
	all := strings.Split(v, "\n")
	if len(all) <= lines {
		return v
	}
	return all[0] + "\n...\n" + strings.Join(all[len(all)-lines:], "\n")
}

// spread returns the median, the 99th percentile and the maximum.
func spread(d []time.Duration) string {
	if len(d) == 0 {
		return "none"
	}
	d = slices.Clone(d)
	slices.Sort(d)
	at := func(percent int) time.Duration { return d[(len(d)-1)*percent/100].Round(time.Millisecond) }
	return fmt.Sprintf("median %s, p99 %s, max %s (of %d)", at(50), at(99), at(100), len(d))
}
