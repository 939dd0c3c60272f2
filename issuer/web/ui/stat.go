package ui

import (
	"fmt"
	"strings"
)

// A Stat is a figure with its history. A list of them is the template "stats".
type Stat struct {
	Label, Value string
	Bars         *Bars
	Note         string
	Path         string // of the page with the details; "" for none
}

// Bars are a chart of figures, the oldest first, with its text alternative.
type Bars struct {
	Values []uint32
	Text   string
	Top    uint32 // the value that has the whole height; 0 for the highest one
}

const (
	barsHeight = 36
	barsWidth  = 240
)

// NewBars returns the chart of values. period is such as "Last 30 days", unit is such as
// "day", and at names the time of a value by its index.
func NewBars(values []uint32, period, unit string, at func(n int) string) *Bars {
	var sum uint64
	most, none := 0, 0
	for n, v := range values {
		sum += uint64(v)
		if v > values[most] {
			most = n
		}
		if v == 0 {
			none++
		}
	}
	text := period + ": " + Comma(sum)
	if sum > 0 {
		text += fmt.Sprintf(", most %s (%s)", at(most), Comma(values[most]))
		if none > 0 {
			text += ", none in " + Plural(none, unit)
		}
	}
	return &Bars{Values: values, Text: text + "."}
}

// pitch is the width of a bar with the space after it.
func (b *Bars) pitch() int { return max(3, barsWidth/max(1, len(b.Values))) }

// width is the width of a bar.
func (b *Bars) width() int { return b.pitch() * 7 / 10 }

// Width returns the width of the chart, in its own units.
func (b *Bars) Width() int { return b.pitch()*max(0, len(b.Values)-1) + b.width() }

// Path returns the bars as one path. Top, or the highest value, has the whole height, and a value
// above 0 at least two units. It is a flat line if all values are 0.
func (b *Bars) Path() string {
	top := uint64(b.Top)
	for _, v := range b.Values {
		top = max(top, uint64(v))
	}
	var path strings.Builder
	pitch, width := b.pitch(), b.width()
	for n, v := range b.Values {
		if v == 0 {
			continue
		}
		high := max(2, uint64(v)*barsHeight/top)
		fmt.Fprintf(&path, "M%d %dv-%dh%dv%dz", n*pitch, barsHeight, high, width, high)
	}
	if path.Len() == 0 {
		fmt.Fprintf(&path, "M0 %dv-1h%dv1z", barsHeight, b.Width())
	}
	return path.String()
}
