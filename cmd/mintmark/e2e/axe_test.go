package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// axe selects the rules of WCAG 2.2 A and AA, and axe's own best practices.
const axe = `axe.run(document, {
	runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
	resultTypes: ['violations'],
}).then(r => ({
	passes: r.passes.length,
	violations: r.violations.map(v => v.id + ': ' + v.help + ': ' + v.nodes.map(n => n.html + ' ' + n.failureSummary).join('; ')),
}))`

type axeResult struct {
	Passes     int
	Violations []string
}

// injectAxe loads axe into the page, in spite of the content policy, which is tested
// elsewhere.
func (b *tab) injectAxe(script string) {
	b.t.Helper()
	ready, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("typeof axe === 'object'"))
	require.NoError(b.t, err)
	if !ready {
		b.do(chromedp.Evaluate[chromedp.Void](script))
	}
}

func (b *tab) axe() (axeResult, error) {
	return chromedp.Run(b.ctx, chromedp.Evaluate[axeResult](axe, chromedp.EvalAwaitPromise))
}

func axeScript(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("clients", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	return string(text)
}

// TestAccessibility: axe-core finds nothing on any page, wide and narrow, light and dark. Nothing
// is wider than the window (WCAG 2.2 §1.4.10), and the theme is the user's. What the pages look
// like is in the pictures of package photos.
func TestAccessibility(t *testing.T) {
	script, grounds := axeScript(t), map[string]string{}
	b := newTab(t)
	_, err := chromedp.Call(b.ctx, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
	require.NoError(t, err)
	eachDisplay(t, b, func(t *testing.T, name string, width int64, theme string) {
		b.injectAxe(script)
		result, err := b.axe()
		require.NoError(t, err)
		require.Positive(t, result.Passes)
		require.Empty(t, result.Violations, fmt.Sprintf("%s at %d pixels, %s", name, width, theme))
		require.LessOrEqual(t, evaluate[int64](b, "document.documentElement.scrollWidth"), width, name)
		grounds[theme] = evaluate[string](b, "getComputedStyle(document.body).backgroundColor")
	})
	require.NotEqual(t, grounds["light"], grounds["dark"])
}

// TestAxeFinds: a page with faults fails.
func TestAxeFinds(t *testing.T) {
	b := newTab(t)
	b.open(`data:text/html,<!DOCTYPE html><html><head><title>x</title></head><body><main><img src="data:,"><p style="color:%23aaa">faint</p></main></body></html>`)
	b.injectAxe(axeScript(t))
	result, err := b.axe()
	require.NoError(t, err)
	found := strings.Join(result.Violations, "\n")
	for _, rule := range []string{"color-contrast", "image-alt", "html-has-lang"} {
		require.Contains(t, found, rule)
	}
}
