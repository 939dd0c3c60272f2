package photos

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// A display is a window and a theme.
type display struct {
	width, height int64 // of the window, in CSS pixels
	theme         string
	scale         float64 // of the pictures of scenes
}

func (d display) String() string { return fmt.Sprintf("%d-%s", d.width, d.theme) }

// displays are in an order in which little changes from one to the next. Texts are read in the
// light pictures: the dark ones are smaller, and show the colors.
var displays = []display{{1280, 800, "light", 0.5}, {1280, 800, "dark", 0.25}, {390, 844, "dark", 0.25}, {390, 844, "light", 0.5}}

// A camera is a tab of a browser in which nothing depends on the machine: neither the fonts, nor
// the time, nor what moves.
type camera struct {
	t       testing.TB
	ctx     context.Context
	version string // of the browser
}

// stopClock sets the time of the pages' script to that of the scenes.
const stopClock = `(() => {
	const at = %d, Real = Date
	Date = class extends Real { constructor(...a) { super(...(a.length ? a : [at])) } static now() { return at } }
})()`

func newCamera(t testing.TB) *camera {
	t.Helper()
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, // Chromium has no sandbox for root
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("force-device-scale-factor", "1"),
		chromedp.Flag("font-render-hinting", "none"),
		chromedp.Flag("disable-lcd-text", true),
		chromedp.Flag("disable-prefer-compositing-to-lcd-text", true), // fewer layers, each with its own rounding
		chromedp.Flag("disable-partial-raster", true),
		chromedp.Flag("disable-checker-imaging", true),
		chromedp.Flag("disable-threaded-animation", true),
		chromedp.Flag("disable-threaded-scrolling", true),
		chromedp.Flag("run-all-compositor-stages-before-draw", true),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Env("FONTCONFIG_FILE="+writeFonts(t), "LANG=en_US.UTF-8", "LANGUAGE=en_US", "TZ=UTC"),
	)...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	c := &camera{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium does not start (make deps installs it): %v", err)
	}
	version, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{})
	require.NoError(t, err)
	c.version = version.Product
	_, err = chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: fmt.Sprintf(stopClock, webtest.SceneTime.UnixMilli()),
	})
	require.NoError(t, err)
	return c
}

// open opens an address.
func (c *camera) open(address string) {
	c.t.Helper()
	c.use(displays[0])
	require.NoError(c.t, chromedp.Do(c.ctx, chromedp.Navigate(address)))
}

// use sets the window, as high as the page but not lower than the display, and the theme.
func (c *camera) use(d display) {
	c.t.Helper()
	c.resize(d.width, d.height)
	_, err := chromedp.Call(c.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: d.theme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	require.NoError(c.t, err)
}

func (c *camera) resize(width, height int64) {
	c.t.Helper()
	_, err := chromedp.Call(c.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
	require.NoError(c.t, err)
}

// anew lays the page out anew. What was drawn before the script ran, or in another window, would
// be kept where it is by fractions of a pixel.
const anew = `(e => { e.style.display = "none"; const h = e.offsetHeight; e.style.display = ""; return h })(document.documentElement)`

// show shows the whole page on a display, and returns its height. Nothing has the focus.
func (c *camera) show(d display) int64 {
	c.t.Helper()
	c.use(d)
	height := max(d.height, evaluate[int64](c, `document.activeElement?.blur(), Math.ceil(document.documentElement.scrollHeight)`))
	c.resize(d.width, height)
	evaluate[int](c, anew)
	return height
}

// whole returns a picture of the whole page.
func (c *camera) whole(d display) *image.RGBA {
	c.t.Helper()
	return c.shoot(&page.Viewport{Height: float64(c.show(d)), Width: float64(d.width), Scale: d.scale})
}

// component returns a picture of a component of the specimen. The others are hidden meanwhile: the
// heights of those before it would move it by fractions of a pixel.
func (c *camera) component(name string) *image.RGBA {
	c.t.Helper()
	box := evaluate[[]float64](c, fmt.Sprintf(`(() => {
		for (const e of document.querySelectorAll('[data-specimen]')) e.style.display = e.dataset.specimen === '%[1]s' ? '' : 'none'
		const b = document.querySelector('[data-specimen=%[1]s]').getBoundingClientRect()
		return [Math.floor(b.x), Math.floor(b.y + scrollY), Math.ceil(b.width), Math.ceil(b.height)]
	})()`, name))
	return c.shoot(&page.Viewport{X: box[0], Y: box[1], Width: box[2], Height: box[3], Scale: 1})
}

func (c *camera) shoot(clip *page.Viewport) *image.RGBA {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, time.Minute)
	defer cancel()
	yes := true
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: clip, OptimizeForSpeed: &yes})
	require.NoError(c.t, err)
	decoded, err := png.Decode(bytes.NewReader(shot.Data))
	require.NoError(c.t, err)
	if m, ok := decoded.(*image.RGBA); ok {
		return m
	}
	m := image.NewRGBA(decoded.Bounds())
	draw.Draw(m, m.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	return m
}

func evaluate[T any](c *camera, script string) T {
	c.t.Helper()
	value, err := chromedp.Run(c.ctx, chromedp.Evaluate[T](script))
	require.NoError(c.t, err)
	return value
}
