package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestScreenshots saves a picture of every page in .tools/screenshots, and checks that
// nothing is wider than the window (WCAG 2.2 §1.4.10), and that the theme is the user's.
func TestScreenshots(t *testing.T) {
	dir := filepath.Join(root, ".tools", "screenshots")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	grounds := map[string]string{}
	b := newTab(t)
	eachDisplay(t, b, func(t *testing.T, page string, width int64, theme string) {
		picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
		require.NoError(t, err)
		name := fmt.Sprintf("%s-%d-%s.png", page, width, theme)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), picture, 0o644))

		wide, err := chromedp.Run(b.ctx, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
		require.NoError(t, err)
		require.LessOrEqual(t, wide, width, name)
		ground, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("getComputedStyle(document.body).backgroundColor"))
		require.NoError(t, err)
		grounds[theme] = ground
	})
	require.NotEqual(t, grounds["light"], grounds["dark"])
}
