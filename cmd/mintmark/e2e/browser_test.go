package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chromium is the browser of the package; each test has a context of its own in it, like
// a private window.
var chromium struct {
	once  sync.Once
	ctx   context.Context
	close func()
	err   error
}

func startBrowser() {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, // Chromium has no sandbox for root
		chromedp.Flag("disable-gpu", true),
		chromedp.WindowSize(1280, 800),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		// The pages load nothing from other hosts, and the browser must not either.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	chromium.ctx, chromium.close = ctx, func() { cancel(); stop() }
	chromium.err = chromedp.Do(ctx)
}

func closeBrowser() {
	if chromium.close != nil {
		chromium.close()
	}
}

// A tab is one page in its own browser context.
type tab struct {
	t      testing.TB
	ctx    context.Context
	clicks int // of press

	mu       sync.Mutex
	problems []string // messages of the console, guarded by mu
}

// newTab opens a tab. Any later message of the console fails the test: an error of a
// page, a missing file, a violation of the content policy.
func newTab(t testing.TB) *tab {
	t.Helper()
	b := newUncheckedTab(t)
	t.Cleanup(func() { assert.Empty(t, b.complaints(), "the console") })
	return b
}

func newUncheckedTab(t testing.TB) *tab {
	t.Helper()
	chromium.once.Do(startBrowser)
	if chromium.err != nil {
		t.Fatalf("Chromium does not start (make deps installs it): %v", chromium.err)
	}
	private, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(private, 10*time.Minute)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening: // of a page with unsaved text
		go func() {
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	case *log.EventEntryAdded:
		b.problems = append(b.problems, fmt.Sprintf("%s: %s: %s (%s)", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, "console."+e.Type.String())
	}
}

// complaints returns the unexpected problems. A response with 4xx or 503, which Chromium
// reports, is expected by the test.
func (b *tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []string
	for _, p := range b.problems {
		_, address, _ := strings.Cut(p, "(")
		asset := strings.Contains(address, "/assets/")
		answered := strings.Contains(p, "the server responded with a status of 4") || strings.Contains(p, "the server responded with a status of 503")
		if answered && !asset {
			continue
		}
		if strings.Contains(p, "Autofocus processing was blocked") {
			continue // the test typed before the page focused a field
		}
		if strings.Contains(p, "Clear-Site-Data header on") && strings.Contains(p, `Cleared data types: "cache"`) {
			continue // signing out clears the browser's cache
		}
		list = append(list, p)
	}
	return list
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.limited()
	defer cancel()
	b.succeeded(chromedp.Do(ctx, steps...), "do the steps")
}

// limited returns the time of one step. An element that a page does not show, or shows hidden,
// would otherwise be waited for until the tab is closed.
func (b *tab) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, time.Minute)
}

// succeeded verifies the outcome of a step, and names the page where it failed.
func (b *tab) succeeded(err error, step string) {
	b.t.Helper()
	if err == nil {
		return
	}
	address, _ := chromedp.Run(b.ctx, chromedp.Location())
	require.NoError(b.t, err, "%s on %s", step, address)
}

func (b *tab) open(address string) { b.t.Helper(); b.do(chromedp.Navigate(address)) }

// press clicks and waits for the next page.
func (b *tab) press(button string) {
	b.t.Helper()
	b.clicks++
	ctx, cancel := b.limited()
	defer cancel()
	_, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(button)))
	b.succeeded(err, "press "+button)
}

// signOut presses the button of the consent page or of the navigation, which is in a menu if
// the window is narrow.
func (b *tab) signOut() {
	b.t.Helper()
	if evaluate[bool](b, `[...document.querySelectorAll('.side')].some(e => getComputedStyle(e).display === 'none')`) {
		b.do(chromedp.Click(chromedp.CSS(".menu summary")))
	}
	b.press(`form[action="/auth/sign-out"] button`)
}

// signIn fills in the sign-in page with keys. A page that is shown again has kept the
// name.
func (b *tab) signIn(name, password string) {
	b.t.Helper()
	kept, err := chromedp.Run(b.ctx, chromedp.Value(chromedp.CSS("#username")))
	require.NoError(b.t, err)
	if kept == "" {
		b.do(chromedp.SendKeys(chromedp.CSS("#username"), name))
	} else {
		require.Equal(b.t, name, kept)
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#password"), password))
	b.press("form button.primary")
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	ctx, cancel := b.limited()
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
	b.succeeded(err, "read "+selector)
	return text
}

// confirm presses the button of a form that asks before, and answers yes.
func (b *tab) confirm(action string) {
	b.t.Helper()
	form := fmt.Sprintf("form[action=%q]", action)
	b.do(chromedp.Click(chromedp.CSS("main .confirm:has(" + form + ") > summary")))
	b.press("main .confirm[open] " + form + " button")
}

// disconnect disconnects an application that the page shows, by its name.
func (b *tab) disconnect(name string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("main .confirm:has([aria-label=%q]) > summary", "Disconnect "+name+"?"))))
	b.press("main .confirm[open] form button")
}

// isSignedIn verifies that the tab shows the first page of a user, by the user's name.
func (b *tab) isSignedIn(name string) {
	b.t.Helper()
	require.Equal(b.t, "Needs your attention", b.text("h1"))
	require.Equal(b.t, name, b.text(".who bdi"))
}

func (b *tab) location() string {
	b.t.Helper()
	address, err := chromedp.Run(b.ctx, chromedp.Location())
	require.NoError(b.t, err)
	return address
}

// scripts turns JavaScript of the pages on or off.
func (b *tab) scripts(on bool) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
	require.NoError(b.t, err)
}

// setDisplay sets the width of the window and the theme, with reduced motion: otherwise colors
// would be between those of two themes for a moment.
func (b *tab) setDisplay(width int64, theme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 800))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	require.NoError(b.t, err)
}
