package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// play returns the mutants of a family that its tests don't notice.
func (f family) play(ctx context.Context, root string, chosen func(string) bool, workers int, out io.Writer) ([]mutant, error) {
	sources, conditions, err := wrapAll(root, f.files, chosen)
	if err != nil || len(conditions) == 0 {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "mintmark-mutate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	overlay, err := writeOverlay(folder, root, sources)
	if err != nil {
		return nil, err
	}
	var rest []mutant
	for id, c := range conditions {
		rest = append(rest, mutant{c, id, true}, mutant{c, id, false})
	}
	for _, t := range f.tests {
		began, before := time.Now(), len(rest)
		b := &binary{path: filepath.Join(folder, filepath.Base(t.folder)+".test"), dir: filepath.Join(root, t.folder), workers: workers}
		if err := b.build(ctx, overlay, t); err != nil {
			return nil, err
		}
		if err := b.learn(ctx, t); err != nil {
			return nil, err
		}
		if rest, err = b.survivors(ctx, rest); err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "%s: %s noticed %d of %d mutants in %s\n",
			strings.Join(f.files, " "), t.folder, before-len(rest), before, time.Since(began).Round(time.Second))
	}
	return rest, nil
}

// A binary has the tests of a package and all mutants of a family.
type binary struct {
	path, dir string
	workers   int
	flags     []string // of each run
	learnt    []learnt
}

// learnt is the behaviour of a test without a mutant.
type learnt struct {
	name string
	took time.Duration
	seen map[string]bool // orders of the mutants with values that occurred, which would change nothing
}

func (b *binary) build(ctx context.Context, overlay string, t tests) error {
	c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", b.path, modulePath+"/"+t.folder)
	c.Dir = strings.TrimSuffix(b.dir, t.folder)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build the tests of %s: %w\n%s", t.folder, err, said)
	}
	// A property test writes failures to the work tree, unless disabled by a flag. Only a
	// binary with such tests has the flag.
	const keepNone = "-rapid.nofailfile"
	c = exec.CommandContext(ctx, b.path, keepNone, "-test.list", "^$")
	if c.Dir = b.dir; c.Run() == nil {
		b.flags = []string{keepNone}
	}
	return nil
}

// maxTest is the longest time for one test. A mutant that takes longer counts as noticed.
const maxTest = 2 * time.Minute

// test runs tests by name and reports whether all passed.
func (b *binary) test(ctx context.Context, limit time.Duration, names []string, environment string) (bool, []byte, error) {
	for i, n := range names {
		names[i] = regexp.QuoteMeta(n)
	}
	c := exec.CommandContext(ctx, b.path, append([]string{
		"-test.run", "^(" + strings.Join(names, "|") + ")$", "-test.failfast", "-test.timeout", limit.String(),
	}, b.flags...)...)
	c.Dir, c.Env = b.dir, append(os.Environ(), environment)
	c.WaitDelay = time.Second
	said, err := c.CombinedOutput()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && ctx.Err() == nil {
		return false, said, nil
	}
	return err == nil, said, err
}

// learn runs each test alone.
func (b *binary) learn(ctx context.Context, t tests) error {
	c := exec.CommandContext(ctx, b.path, "-test.list", cmp.Or(t.run, "."))
	c.Dir = b.dir
	list, err := c.Output()
	if err != nil {
		return fmt.Errorf("list the tests of %s: %w", t.folder, err)
	}
	skip, err := regexp.Compile(cmp.Or(t.skip, "^$"))
	if err != nil {
		return err
	}
	var names []string
	for _, n := range strings.Fields(string(list)) {
		if !strings.HasPrefix(n, "Benchmark") && !skip.MatchString(n) {
			names = append(names, n)
		}
	}
	b.learnt = make([]learnt, len(names))
	return each(ctx, b.workers, len(names), func(ctx context.Context, i int) error {
		seen := fmt.Sprintf("%s.seen%d", b.path, i)
		began := time.Now()
		passed, said, err := b.test(ctx, maxTest, []string{names[i]}, environmentSeen+"="+seen)
		if err == nil && !passed {
			err = fmt.Errorf("%s of %s fails with nothing broken:\n%s", names[i], t.folder, said)
		}
		if err != nil {
			return err
		}
		l := learnt{name: names[i], took: time.Since(began), seen: map[string]bool{}}
		text, err := os.ReadFile(seen)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		for order := range bytes.Lines(text) {
			l.seen[string(bytes.TrimSpace(order))] = true
		}
		b.learnt[i] = l
		return nil
	})
}

// survivors returns the mutants that no test notices.
func (b *binary) survivors(ctx context.Context, mutants []mutant) ([]mutant, error) {
	slices.SortFunc(b.learnt, func(x, y learnt) int { return cmp.Compare(x.took, y.took) })
	survived := make([]bool, len(mutants))
	err := each(ctx, b.workers, len(mutants), func(ctx context.Context, i int) (err error) {
		survived[i], err = b.survives(ctx, mutants[i])
		return err
	})
	var rest []mutant
	for i, m := range mutants {
		if survived[i] {
			rest = append(rest, m)
		}
	}
	return rest, err
}

// survives runs the tests that caused the condition's other value: a few of the fastest,
// then more, since any of them notices most mutants.
func (b *binary) survives(ctx context.Context, m mutant) (bool, error) {
	other := mutant{id: m.id, value: !m.value}.order()
	var names []string
	var took time.Duration
	batch := 3
	run := func() (bool, error) {
		if len(names) == 0 {
			return true, nil
		}
		passed, _, err := b.test(ctx, 10*took+10*time.Second, names, environmentBroken+"="+m.order())
		names, took, batch = nil, 0, batch*4
		return passed, err
	}
	for _, l := range b.learnt {
		if !l.seen[other] {
			continue
		}
		names, took = append(names, l.name), took+l.took
		if len(names) == batch {
			if passed, err := run(); err != nil || !passed {
				return false, err
			}
		}
	}
	return run()
}

// each calls f for 0 to n-1, several at a time, until one fails.
func each(ctx context.Context, workers, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan int)
	var waiting sync.WaitGroup
	for range workers {
		waiting.Go(func() {
			for i := range work {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	waiting.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
