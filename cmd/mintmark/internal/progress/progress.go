// Package progress reports how far a long operation is: on a terminal with a bar that
// disappears at the end, and otherwise with a line every ten seconds. An operation of less
// than two seconds reports nothing. It does not decide what is measured, and writes to no
// output but the given one.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

const (
	quiet     = 2 * time.Second        // before anything is reported
	redraw    = 200 * time.Millisecond // of the bar
	lineEvery = 10 * time.Second
)

// Options describe an operation.
type Options struct {
	// Out is where the bar is drawn if it is a terminal, such as standard error.
	Out io.Writer
	// Line writes a line if Out is no terminal. Default: to Out.
	Line func(text string)
	// What names the operation.
	What string
	// Total is how much there is to do, 0 if that is not known. Plain: it is not bytes, and
	// only the part that is done is shown.
	Total int64
	Plain bool
}

// A Progress is an operation that runs. Its methods are safe for concurrent use, and do
// nothing on nil.
type Progress struct {
	o    Options
	stop chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex // guards the rest
	n    int64
	note string
}

// Start starts to report. The caller must call Stop.
func Start(o Options) *Progress {
	if o.Line == nil {
		o.Line = func(text string) { fmt.Fprintln(o.Out, text) }
	}
	p := &Progress{o: o, stop: make(chan struct{})}
	f, ok := o.Out.(*os.File)
	if ok && isatty.IsTerminal(f.Fd()) {
		p.done.Go(p.draw)
	} else {
		p.done.Go(p.writeLines)
	}
	return p
}

// Stop ends the report and removes the bar.
func (p *Progress) Stop() {
	if p != nil {
		close(p.stop)
		p.done.Wait()
	}
}

// Add reports that n more is done.
func (p *Progress) Add(n int64) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.n += n
	}
}

// Set reports that n of total is done, and what is done now. A total of 0 is not known.
func (p *Progress) Set(n, total int64, note string) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.n, p.o.Total, p.note = n, total, note
	}
}

// Reader counts what is read.
func (p *Progress) Reader(r io.Reader) io.Reader { return &counting{p: p, r: r} }

// Writer counts what is written.
func (p *Progress) Writer(w io.Writer) io.Writer { return &counting{p: p, w: w} }

type counting struct {
	p *Progress
	r io.Reader
	w io.Writer
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.p.Add(int64(n))
	return n, err
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.p.Add(int64(n))
	return n, err
}

// writeLines writes a line every ten seconds.
func (p *Progress) writeLines() {
	began := time.Now()
	ticker := time.NewTicker(lineEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.o.Line(p.line(time.Since(began)))
		case <-p.stop:
			return
		}
	}
}

// line describes the operation.
func (p *Progress) line(took time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts := []string{}
	switch {
	case p.o.Total > 0 && p.o.Plain:
		parts = append(parts, fmt.Sprintf("%d %%", 100*min(p.n, p.o.Total)/p.o.Total))
	case p.o.Total > 0:
		parts = append(parts, fmt.Sprintf("%s of %s, %d %%", size(p.n), size(p.o.Total), 100*min(p.n, p.o.Total)/p.o.Total))
	case p.n > 0 && !p.o.Plain:
		parts = append(parts, size(p.n))
	}
	if p.note != "" {
		parts = append(parts, p.note)
	}
	return fmt.Sprintf("%s: %s", p.o.What, strings.Join(append(parts, took.Round(time.Second).String()), ", "))
}

func size(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// draw draws the bar.
func (p *Progress) draw() {
	select {
	case <-time.After(quiet):
	case <-p.stop:
		return
	}
	bar := progressbar.NewOptions64(p.total(),
		progressbar.OptionSetWriter(p.o.Out), progressbar.OptionSetDescription(p.o.What), progressbar.OptionSetWidth(30),
		progressbar.OptionShowBytes(!p.o.Plain), progressbar.OptionClearOnFinish(), progressbar.OptionSpinnerType(14),
		progressbar.OptionSetSpinnerChangeInterval(0)) // otherwise a goroutine of its own draws too, and Clear takes no lock
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		p.update(bar)
		select {
		case <-ticker.C:
		case <-p.stop:
			_ = bar.Clear() // an error of the terminal hides the bar only
			return
		}
	}
}

func (p *Progress) total() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.o.Total <= 0 {
		return -1 // a spinner
	}
	return p.o.Total
}

func (p *Progress) update(bar *progressbar.ProgressBar) {
	total := p.total()
	p.mu.Lock()
	defer p.mu.Unlock()
	what := p.o.What
	if p.note != "" {
		what += ": " + p.note
	}
	bar.Describe(what)
	if bar.GetMax64() != total {
		bar.ChangeMax64(total)
	}
	n := p.n
	if total > 0 {
		n = min(n, total-1) // the library ends a bar that is full
	}
	_ = bar.Set64(n)
}
