package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"
)

// A printer writes text for people: aligned columns to standard output, and remarks to
// standard error, so that the output can be captured.
type printer struct {
	out, remarks io.Writer
	err          error
}

func newPrinter(out, remarks io.Writer) *printer { return &printer{out: out, remarks: remarks} }

// writeErr returns the first error of writing.
func (p *printer) writeErr() error { return p.err }

func (p *printer) recordErr(err error) {
	if p.err == nil {
		p.err = err
	}
}

// line writes to standard output.
func (p *printer) line(format string, args ...any) {
	p.write(p.out, fmt.Sprintf(format, args...))
}

// remark writes to standard error.
func (p *printer) remark(format string, args ...any) {
	p.write(p.remarks, fmt.Sprintf(format, args...))
}

func (p *printer) write(w io.Writer, text string) {
	_, err := fmt.Fprintln(w, escapeControl(text))
	p.recordErr(err)
}

// escapeControl replaces control characters, which a terminal would act on: names may come
// from an untrusted file.
func escapeControl(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return utf8.RuneError
		}
		return r
	}, text)
}

// hints writes to w, once each, what an operator can do about the facts in some lines.
func (p *printer) hints(w io.Writer, lines ...string) {
	var written []string
	for _, line := range lines {
		if advice := adviceIn(line); advice != "" && !slices.Contains(written, advice) {
			written = append(written, advice)
			p.write(w, "hint: "+advice)
		}
	}
}

// secret writes a secret that is shown this once, on a line of its own.
func (p *printer) secret(plain string) { p.line("%s", plain) }

// table writes rows below headings. An empty cell is shown as a dash, so that
// columns can be counted.
func (p *printer) table(headings []string, rows [][]string) {
	if len(rows) == 0 {
		p.remark("nothing found")
		return
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{headings}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = escapeControl(cell); cell == "" {
				cells[i] = "-"
			}
		}
		_, err := fmt.Fprintln(w, strings.Join(cells, "\t"))
		p.recordErr(err)
	}
	p.recordErr(w.Flush())
}

// A property is one line of the description of an object.
type property struct {
	name   string
	values []string
}

func singleValue(name, value string) property { return property{name, []string{value}} }

// properties writes names and values in two columns; those without a value
// are left out.
func (p *printer) properties(all ...property) {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, f := range all {
		name := f.name
		for _, v := range f.values {
			if v == "" {
				continue
			}
			_, err := fmt.Fprintf(w, "%s\t%s\n", name, escapeControl(v))
			p.recordErr(err)
			name = ""
		}
	}
	p.recordErr(w.Flush())
}

// formatTime formats a time in the local zone; "" for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// formatTimeSeconds is formatTime with seconds.
func formatTimeSeconds(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
