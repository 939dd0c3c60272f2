package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"
)

// A transcript is what a person watches: a line for each event and for each second,
// and at the end the promises beside what was measured.
type transcript struct {
	ctx   context.Context // when it ends, nobody is told anything any more
	out   io.Writer
	began time.Time

	mu        sync.Mutex // a line is written whole
	concluded bool       // mu; the table was written
	promises  []promise  // of the goroutine that runs the chapters
}

// A promise is a row of the table at the end.
type promise struct {
	what, measured, bound string
	kept                  bool
}

func newTranscript(ctx context.Context, out io.Writer) *transcript {
	return &transcript{ctx: ctx, out: out, began: time.Now()}
}

// event tells of something that happened.
func (t *transcript) event(format string, a ...any) { t.line(" ", format, a...) }

// status tells how things are.
func (t *transcript) status(format string, a ...any) { t.line("    ", format, a...) }

func (t *transcript) line(indent, format string, a ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.concluded || t.ctx.Err() != nil {
		return
	}
	fmt.Fprintf(t.out, "%5.1fs%s%s\n", time.Since(t.began).Seconds(), indent, fmt.Sprintf(format, a...))
}

// promise notes what was measured of something that must hold.
func (t *transcript) promise(kept bool, what, measured, bound string) {
	t.promises = append(t.promises, promise{what, measured, bound, kept})
	if !kept {
		t.event("BROKEN: %s: %s, and the promise is %s", what, measured, bound)
	}
}

// within notes a time that has a bound.
func (t *transcript) within(ok bool, what string, took, most time.Duration) {
	measured := roughly(took)
	if !ok {
		measured = "not within " + measured
	}
	t.promise(ok && took <= most, what, measured, "≤ "+roughly(most))
}

// conclude writes the table. It is an error where a promise was broken.
func (t *transcript) conclude() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.concluded = true
	broken := 0
	fmt.Fprintln(t.out)
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHAT\tMEASURED\tPROMISED\t")
	for _, p := range t.promises {
		verdict := "kept"
		if !p.kept {
			verdict = "BROKEN"
			broken++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.what, p.measured, p.bound, verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if broken > 0 {
		return fmt.Errorf("%d of %d promises were broken", broken, len(t.promises))
	}
	fmt.Fprintf(t.out, "\nAll %d promises were kept.\n", len(t.promises))
	return nil
}

// roughly is a duration as people say it.
func roughly(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// waitUntil asks again and again, until it is so, the time has passed or ctx ends.
func waitUntil(ctx context.Context, most time.Duration, so func() bool) (took time.Duration, ok bool) {
	began := time.Now()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		if so() {
			return time.Since(began), true
		}
		if took = time.Since(began); took > most {
			return took, false
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return took, false
		}
	}
}
