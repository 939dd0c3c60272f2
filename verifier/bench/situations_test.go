package bench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// Times of the situations. Settings that a library offers are set to seconds.
const (
	coolDown = 10 * time.Second // within which a new key is known, despite unknown kids
	soon     = time.Second      // within which the first token of a new key is accepted
	slack    = 5 * time.Second  // for a loaded machine: a library that fails takes minutes, or never recovers
	waits    = time.Second      // a verification that takes longer waited for the issuer, which takes six times as long
)

// verdict is the result of a library in a situation.
type verdict int

const (
	failed verdict = iota
	passed
	unsaid // the test can't produce the situation
)

// scene is a library in a situation.
type scene struct {
	*testing.T
	library
	ctx    context.Context
	issuer *verifiertest.Issuer
	verify verify
}

// situations are those of verifier/situations_test.go, over HTTP and in real time. Their
// second results are details for the log.
var situations = []struct {
	name string
	act  func(*scene) (verdict, string)
}{
	{"200 tokens of unknown kid, four at once", (*scene).unknownKids},
	{"50 bad signatures under a known kid", (*scene).badSignatures},
	{"first token of a new key", (*scene).newKey},
	{"the same just after a stranger", (*scene).newKeyAfterStranger},
	{"key removed", (*scene).keyRemoved},
	{"issuer answers 500", (*scene).issuerFails},
	{"issuer takes 6 s", (*scene).issuerIsSlow},
	{"start while the issuer is down", (*scene).startWhileDown},
	{"ML-DSA key in the set", (*scene).foreignKey},
	{"JWK without alg", (*scene).keyWithoutAlg},
	{"staleness bound", (*scene).staleness},
}

const slowIssuer = 6 // index of the situation that is measured in milliseconds, and so runs alone

// TestSituations runs every library in every situation, concurrently. Package verifier
// passes all. The results of the others are compared with README.md.
func TestSituations(t *testing.T) {
	type cell struct {
		verdict
		observed string
	}
	cells := make([][]cell, len(libraries))
	for n := range cells {
		cells[n] = make([]cell, len(situations))
	}
	run := func(these func(situation int) bool) {
		var all sync.WaitGroup
		for n, l := range libraries {
			for m, s := range situations {
				if these(m) {
					all.Go(func() { cells[n][m].verdict, cells[n][m].observed = play(t, l, s.act) })
				}
			}
		}
		all.Wait()
	}
	run(func(m int) bool { return m != slowIssuer })
	run(func(m int) bool { return m == slowIssuer })

	documentation, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var table strings.Builder
	for n, l := range libraries {
		var fails, open []string
		fmt.Fprintf(&table, "%s\n", l.label())
		for m, s := range situations {
			c := cells[n][m]
			number := fmt.Sprint(m + 1)
			switch c.verdict {
			case failed:
				fails = append(fails, number)
			case unsaid:
				open = append(open, number)
			}
			fmt.Fprintf(&table, "  %2d %-40s %-7s %s\n", m+1, s.name, [...]string{"FAILED", "passed", "-"}[c.verdict], c.observed)
		}
		line := row(l.label(), fails, open)
		if !strings.Contains(string(documentation), "\n"+line+"\n") {
			t.Errorf("README.md has no line\n%s", line)
		}
		if len(l.modules) == 0 && len(fails)+len(open) > 0 {
			t.Errorf("package verifier fails: %v %v", fails, open)
		}
	}
	t.Logf("\n%s", &table)
}

// row returns a library's line of README.md.
func row(label string, fails, open []string) string {
	line := fmt.Sprintf("%-52s", label)
	switch {
	case len(fails) > 0:
		line += " fails " + strings.Join(fails, ", ")
	default:
		line += " fails none"
	}
	if len(open) > 0 {
		line += "; not tried: " + strings.Join(open, ", ")
	}
	return line
}

// play runs one situation with an issuer of its own; it ends within half a minute.
func play(t *testing.T, l library, act func(*scene) (verdict, string)) (verdict, string) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	issuer := verifiertest.NewIssuer()
	defer issuer.Close()
	return act(&scene{T: t, ctx: ctx, library: l, issuer: issuer})
}

func (s *scene) begin(set settings) (err error) {
	if set.interval != 0 {
		s.issuer.MaxAge(set.interval)
	}
	s.verify, err = s.start(s.ctx, s.issuer, set)
	return err
}

// warm starts the library and waits until it has the issuer's keys.
func (s *scene) warm(set settings) {
	if err := s.begin(set); err != nil {
		s.Errorf("%s: %v", s.label(), err)
		s.verify = func(context.Context, string) error { return err }
		return
	}
	if !s.accepts(s.issuer.Token()) {
		s.Errorf("%s: a good token is refused", s.label())
	}
}

// accepts verifies a good token, again while the loaded machine is too slow for it.
func (s *scene) accepts(token string) bool {
	_, ok := s.every(100*time.Millisecond, slack, func() bool { return s.verify(s.ctx, token) == nil })
	return ok
}

func (s *scene) unknownKid(kid string) string { return s.issuer.Token(verifiertest.Header("kid", kid)) }

// every calls done repeatedly until it returns true or a time has passed, and returns how
// long that took.
func (s *scene) every(pause, atMost time.Duration, done func() bool) (took time.Duration, ok bool) {
	began := time.Now()
	for {
		if done() {
			return time.Since(began), true
		}
		if time.Since(began) > atMost || s.ctx.Err() != nil {
			return time.Since(began), false
		}
		time.Sleep(pause)
	}
}

func judge(ok bool, format string, args ...any) (verdict, string) {
	v := failed
	if ok {
		v = passed
	}
	return v, fmt.Sprintf(format, args...)
}

func (s *scene) unknownKids() (verdict, string) {
	s.warm(settings{})
	s.issuer.Slow(50 * time.Millisecond)
	before, began := s.issuer.Fetches(), time.Now()
	var four sync.WaitGroup
	for g := range 4 {
		four.Go(func() {
			for n := range 50 {
				if s.verify(s.ctx, s.unknownKid(fmt.Sprint(g, n))) == nil {
					s.Errorf("%s: accepts a token of an unknown key", s.label())
				}
			}
		})
	}
	four.Wait()
	fetches, took := s.issuer.Fetches()-before, time.Since(began)
	atMost := 2 + int(took.Seconds()) // some libraries allow one a second
	return judge(fetches <= atMost, "%d fetches in %.1f s", fetches, took.Seconds())
}

func (s *scene) badSignatures() (verdict, string) {
	s.warm(settings{})
	keys, err := verifier.ParseJWKS(s.issuer.KeySet())
	if err != nil {
		s.Error(err)
		return failed, err.Error()
	}
	other := verifiertest.NewInMemoryIssuer()
	other.URL = s.issuer.URL
	before := s.issuer.Fetches()
	for range 50 {
		if s.verify(s.ctx, other.Token(verifiertest.Header("kid", keys[0].ID()))) == nil {
			s.Errorf("%s: accepts a bad signature", s.label())
		}
	}
	fetches := s.issuer.Fetches() - before
	return judge(fetches == 0, "%d fetches", fetches)
}

func (s *scene) newKey() (verdict, string) {
	s.warm(settings{})
	s.issuer.Rotate()
	token := s.issuer.Token()
	took, ok := s.every(10*time.Millisecond, soon+slack, func() bool { return s.verify(s.ctx, token) == nil })
	if !ok {
		return failed, fmt.Sprintf("refused for %.1f s", took.Seconds())
	}
	return judge(took <= soon+slack, "accepted after %d ms", took.Milliseconds())
}

func (s *scene) newKeyAfterStranger() (verdict, string) {
	s.warm(settings{})
	s.verify(s.ctx, s.unknownKid("stranger"))
	s.issuer.Rotate()
	token := s.issuer.Token()
	n := 0
	took, ok := s.every(100*time.Millisecond, coolDown+slack, func() bool {
		n++
		s.verify(s.ctx, s.unknownKid(fmt.Sprint("stranger ", n)))
		return s.verify(s.ctx, token) == nil
	})
	if !ok {
		return failed, fmt.Sprintf("refused for %.1f s", took.Seconds())
	}
	return judge(took <= coolDown+slack, "accepted after %.1f s", took.Seconds())
}

func (s *scene) keyRemoved() (verdict, string) {
	if s.interval > time.Minute {
		return unsaid, fmt.Sprintf("keys are fetched every %s, regardless of settings", s.interval)
	}
	s.warm(settings{interval: s.interval})
	token := s.issuer.Token()
	s.issuer.Rotate()
	s.issuer.RemoveOldKeys()
	took, ok := s.every(100*time.Millisecond, s.interval+slack, func() bool { return s.verify(s.ctx, token) != nil })
	if !ok && s.interval == 0 {
		return failed, fmt.Sprintf("accepted for %.1f s: no further fetch", took.Seconds())
	}
	return judge(ok, "refused after %.1f s, interval %s", took.Seconds(), s.interval)
}

func (s *scene) issuerFails() (verdict, string) {
	var set settings
	if s.interval < time.Minute {
		set.interval = s.interval
	}
	s.warm(set)
	s.issuer.Fail(http.StatusInternalServerError)
	took, refused := s.every(100*time.Millisecond, max(3*time.Second, s.longer()), func() bool {
		return s.verify(s.ctx, s.issuer.Token()) != nil
	})
	if refused {
		return failed, fmt.Sprintf("refused after %.1f s", took.Seconds())
	}
	return passed, fmt.Sprintf("accepted for %.1f s", took.Seconds())
}

// longer returns a little more than the interval, if the test can wait that long.
func (s *scene) longer() time.Duration {
	if s.interval > time.Minute {
		return 0
	}
	return s.interval * 5 / 4
}

func (s *scene) issuerIsSlow() (verdict, string) {
	var set settings
	if s.interval < time.Minute {
		set.interval = s.interval
	}
	s.warm(set)
	s.issuer.Slow(6 * time.Second)
	go s.verify(s.ctx, s.unknownKid("stranger"))
	var worst time.Duration
	s.every(20*time.Millisecond, max(8*time.Second, s.longer()), func() bool {
		token := s.issuer.Token()
		began := time.Now()
		err := s.verify(s.ctx, token)
		worst = max(worst, time.Since(began))
		return err != nil
	})
	return judge(worst < waits, "slowest of warm verifications %.1f ms", worst.Seconds()*1000)
}

func (s *scene) startWhileDown() (verdict, string) {
	s.issuer.Down()
	if err := s.begin(settings{}); err != nil {
		return failed, "doesn't start"
	}
	token := s.issuer.Token()
	s.every(50*time.Millisecond, 1500*time.Millisecond, func() bool {
		if s.verify(s.ctx, token) == nil {
			s.Errorf("%s: accepts a token without a key", s.label())
		}
		return false
	})
	s.issuer.Up()
	took, ok := s.every(50*time.Millisecond, 2*time.Second+slack, func() bool { return s.verify(s.ctx, token) == nil })
	if !ok {
		return failed, fmt.Sprintf("refused for %.1f s", took.Seconds())
	}
	return judge(took <= 2*time.Second+slack, "accepted after %.1f s", took.Seconds())
}

func (s *scene) foreignKey() (verdict, string) {
	s.issuer.AddEntry(`{"kty":"AKP","kid":"later","use":"sig","alg":"ML-DSA-65","pub":"` + strings.Repeat("A", 2603) + `"}`)
	return s.goodToken()
}

func (s *scene) keyWithoutAlg() (verdict, string) {
	s.issuer.ChangeEntries(func(entry map[string]any) { delete(entry, "alg") })
	return s.goodToken()
}

func (s *scene) goodToken() (verdict, string) {
	if err := s.begin(settings{}); err != nil {
		return failed, "doesn't start"
	}
	if !s.accepts(s.issuer.Token()) {
		return failed, "refused"
	}
	return passed, "accepted"
}

// staleness keeps the issuer down for longer than its keys may be used: they must be used
// until then, and afterwards tokens must not be refused as bad.
func (s *scene) staleness() (verdict, string) {
	set := settings{stale: s.stale}
	if s.interval < time.Minute {
		set.interval = s.interval
	}
	s.warm(set)
	s.issuer.Down()
	var last error
	took, ok := s.every(100*time.Millisecond, max(5*time.Second, s.stale+slack), func() bool {
		last = s.verify(s.ctx, s.issuer.Token())
		return last != nil
	})
	switch {
	case !ok:
		return failed, fmt.Sprintf("accepted for %.1f s: no bound", took.Seconds())
	case s.unavailable == nil || !s.unavailable(last):
		return failed, fmt.Sprintf("after %.1f s refused like a bad token", took.Seconds())
	}
	return judge(took > s.stale*3/4, "unavailable after %.1f s, bound %s", took.Seconds(), s.stale)
}
