package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const shellPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

// serveScript serves the specimen of the components under the policy of the shell.
func serveScript(t *testing.T) *httptest.Server {
	t.Helper()
	files := http.FileServer(http.Dir(filepath.Join(root, "issuer", "web", "ui")))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", shellPolicy)
		switch r.URL.Path {
		case "/small.html":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, `<!DOCTYPE html><html lang="en" data-zone=""><title>x</title><script src="/script.js" defer></script><body data-key="other">`+
				`<p class="notice">Saved.</p><p id="live" role="status"></p><time datetime="2026-03-04T12:01:00Z" title="x" data-exact>x</time></body></html>`)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// truth evaluates an expression, which may be a promise, to true.
func (b *tab) truth(expression string) {
	b.t.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Promise.resolve("+expression+")", chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, expression)
	assert.True(b.t, got, expression)
}

// kit has functions for the expressions of TestScript.
const kit = `(() => {
	window.one = s => document.querySelector(s);
	window.seen = s => one(s).checkVisibility();
	window.type = (s, text) => { one(s).value = text; one(s).dispatchEvent(new Event('input', { bubbles: true })); return true; };
	window.until = async f => { for (let n = 0; n < 200 && !f(); n++) await new Promise(ok => setTimeout(ok, 20)); return f(); };
	window.sent = 0;
	addEventListener('submit', e => { sent += !e.defaultPrevented; e.preventDefault(); });
	window.leaving = () => {
		const e = document.createEvent('BeforeUnloadEvent'); // of any other type, a value that the handler returns is ignored
		e.initEvent('beforeunload', false, true);
		return !dispatchEvent(e);
	};
	return true;
})()`

// TestScript covers each behaviour of the script on the specimen of the components.
func TestScript(t *testing.T) {
	s := serveScript(t)
	b := newTab(t)
	page := s.URL + "/testdata/golden/specimen.html"
	open := func(t *testing.T, address string) {
		t.Helper()
		b.t = t
		// A page with unsaved text would ask, but only a user who has touched it.
		b.truth(`(onbeforeunload = null, true)`)
		b.open(address)
		b.truth(kit)
	}
	t.Cleanup(func() { b.t = t })

	t.Run("without it nothing of it is shown", func(t *testing.T) {
		disable := func(off bool) {
			_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
			require.NoError(t, err)
		}
		disable(true)
		b.t = t
		b.open(page)
		b.truth(`[...document.querySelectorAll('[data-copy], [data-reveal], [data-filter], [data-add], [data-restore]')].every(e => !e.checkVisibility())`)
		b.truth(`document.querySelectorAll('[data-copy]').length > 4 && document.querySelectorAll('[data-rows] .field').length === 3`)
		disable(false)
	})
	t.Run("copy", func(t *testing.T) {
		open(t, page)
		b.truth(`(Object.defineProperty(navigator, 'clipboard', { value: { writeText: async t => window.copied = t } }), one('[data-copy=c-secret]').click(), until(() => one('#live').textContent === 'Copied'))`)
		b.truth(`window.copied === one('#c-secret').textContent && one('[data-copy=c-secret]').textContent === 'Copied secret'`)
		b.truth(`until(() => one('[data-copy=c-secret]').textContent === 'Copy secret')`)
		b.truth(`(navigator.clipboard.writeText = () => Promise.reject(), one('[data-copy=c-fact]').click(), until(() => getSelection().toString() === one('#c-fact').textContent))`)
	})
	t.Run("one submission", func(t *testing.T) {
		open(t, page)
		b.truth(`(() => { const f = one('form[action="/delete"]'); f.requestSubmit(); f.requestSubmit(); return sent === 1 && f.querySelector('button').ariaDisabled === 'true'; })()`)
		b.truth(`(dispatchEvent(new Event('pageshow')), one('form[action="/delete"] button').ariaDisabled === null)`)
	})
	t.Run("show the password", func(t *testing.T) {
		open(t, page)
		b.truth(`(one('[data-reveal]').click(), one('#f-password').type === 'text' && one('[data-reveal]').textContent.startsWith('Hide'))`)
		b.truth(`(one('[data-reveal]').click(), one('#f-password').type === 'password')`)
	})
	t.Run("times", func(t *testing.T) {
		open(t, page)
		b.truth(`!one('time[data-ago]').textContent.includes('3 min')`)
		b.truth(`one('time[data-exact]:not([title])').textContent.endsWith('Europe/London')`)
		_, err := chromedp.Call(b.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Tokyo"})
		require.NoError(t, err)
		open(t, s.URL+"/small.html")
		b.truth(`/^4 March 2026( at|,) 21:01$/.test(one('time').textContent)`)
	})
	t.Run("rows", func(t *testing.T) {
		open(t, page)
		b.truth(`document.querySelectorAll('[data-rows] .field:not([hidden])').length === 1 && !seen('[data-rows] summary')`)
		b.truth(`(one('[data-add]').click(), document.activeElement.id === 'f-uris.1' && seen('[data-add]'))`)
		b.truth(`(one('[data-add]').click(), document.activeElement.id === 'f-uris.2' && !seen('[data-add]'))`)
	})
	t.Run("filter", func(t *testing.T) {
		open(t, page)
		b.truth(`(type('[data-filter] input', 'CALEN'), document.querySelectorAll('#list tbody tr:not([hidden])').length === 1)`)
		b.truth(`(type('[data-filter] input', ''), document.querySelectorAll('#list tbody tr:not([hidden])').length === 4)`)
	})
	t.Run("mirror", func(t *testing.T) {
		open(t, page)
		b.truth(`(type('#f-name', 'New'), one('#profile-title').textContent === 'New')`)
		b.truth(`(type('#f-name', ' '), one('#profile-title').textContent === 'What it is')`)
	})
	t.Run("drafts", func(t *testing.T) {
		open(t, page)
		b.truth(`sessionStorage.clear() === undefined`)
		open(t, page)
		b.truth(`!seen('[data-restore]') && !leaving()`)
		b.truth(`(type('#f-password', 'hidden word'), type('#f-purpose', 'Plans.'), leaving())`)
		b.truth(`!JSON.stringify(sessionStorage).includes('hidden word')`)
		open(t, page)
		b.truth(`seen('[data-restore]') && one('#f-purpose').value === '' && !leaving()`)
		b.truth(`(one('[data-restore] button').click(), one('#f-purpose').value === 'Plans.' && !seen('[data-restore]') && one('#f-password').value === '' && leaving())`)
		open(t, page)
		b.truth(`(one('form[data-draft]').requestSubmit(), sessionStorage.length === 0 && !leaving())`)
		open(t, page)
		b.truth(`(type('#f-purpose', 'Again.'), sessionStorage.length === 1)`)
		open(t, s.URL+"/small.html") // a page of another session
		b.truth(`sessionStorage.length === 0`)
	})
	t.Run("notice", func(t *testing.T) {
		open(t, s.URL+"/small.html")
		b.truth(`until(() => one('#live').textContent === 'Saved.')`)
	})
	t.Run("menus close", func(t *testing.T) {
		open(t, page)
		b.truth(`(one('.drop').open = true, document.body.click(), !one('.drop').open)`)
		b.truth(`(one('.drop').open = true, one('.drop a').focus(), one('.drop a').dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })), !one('.drop').open && document.activeElement === one('.drop summary'))`)
		b.truth(`(one('.confirm').open = true, one('.confirm p').click(), one('.confirm').open)`)
	})
}
