package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// testScript reads a script of testdata that is evaluated in pages.
func testScript(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

// A display is a user's configuration of system and window.
type display struct {
	name   string
	width  int64   // of the window, in CSS pixels
	scale  float64 // 2 is a zoom of 200 %
	theme  string
	forced string // "active": the user's own colours
	keys   bool   // test the keyboard too
}

var displays = []display{
	{"200 %", 640, 2, "light", "none", true},
	{"narrow", 320, 1, "dark", "none", false},
	{"200 %, forced colours", 640, 2, "dark", "active", false},
	{"narrow, forced colours", 320, 1, "light", "active", true},
}

// useDisplay configures the tab, with reduced motion.
func (b *tab) useDisplay(s display) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(s.width, 480, chromedp.EmulateScale(s.scale)))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: s.theme},
			{Name: "forced-colors", Value: s.forced},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	require.NoError(b.t, err)
}

// stops presses Tab from the top of the page to its end, and returns the faults of the
// focus order (WCAG 2.2 §§2.1.1, 2.4.3, 2.4.7).
func (b *tab) stops(script string) []string {
	b.t.Helper()
	stops := evaluate[int](b, script)
	b.do(chromedp.KeyEvent(strings.Repeat(kb.Tab, stops+1)))
	return evaluate[[]string](b, "stops()")
}

// TestSeenAndReached: on every page, zoomed and narrow, in the user's own colours and in
// the page's, nothing is cut off or scrolls sideways, controls have an edge, and the
// keyboard reaches all of them in order and visibly.
func TestSeenAndReached(t *testing.T) {
	seen, stops := testScript(t, "seen.js"), testScript(t, "stops.js")
	b := newTab(t)
	tour(t, b, func(page string) {
		t.Run(page, func(t *testing.T) {
			for _, s := range displays {
				b.useDisplay(s)
				require.Empty(t, evaluate[[]string](b, seen), s.name)
				if s.keys {
					require.Empty(t, b.stops(stops), s.name)
				}
			}
		})
	})
}

// TestSeenAndReachedFinds: a page with faults fails.
func TestSeenAndReachedFinds(t *testing.T) {
	b := newTab(t)
	b.open(`data:text/html,<!DOCTYPE html><html lang="en"><head><title>x</title><style>` +
		`a { outline: none } button { border: 0; transition: color 1s } .cut { width: 50px; overflow: hidden; white-space: nowrap }</style></head><body>` +
		`<p style="width: 700px" contenteditable>wide</p><p class="cut">This is longer than that.</p><button>one</button>` +
		`<a href="data:," tabindex="2">no ring</a><p style="position: absolute; left: 635px; white-space: nowrap">beyond it</p></body></html>`)
	b.useDisplay(displays[0])
	found := strings.Join(evaluate[[]string](b, testScript(t, "seen.js")), "\n")
	for _, fault := range []string{"the page scrolls", "text cut off", "text beyond the window", "a control without an edge", "it may move"} {
		require.Contains(t, found, fault)
	}
	found = strings.Join(b.stops(testScript(t, "stops.js")), "\n")
	for _, fault := range []string{"an order of its own", "no sign of focus", "and not"} {
		require.Contains(t, found, fault)
	}
}
