package e2e

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// downloads returns the file that a click downloads, and its name.
func (b *tab) downloads(selector string) (file, name string) {
	b.t.Helper()
	dir, on := b.t.TempDir(), true
	listening, stop := context.WithCancel(b.ctx)
	defer stop()
	begun, ended := make(chan *browser.EventDownloadWillBegin, 1), make(chan *browser.EventDownloadProgress, 1)
	require.NoError(b.t, chromedp.Listen(listening, func(event any) {
		switch e := event.(type) {
		case *browser.EventDownloadWillBegin:
			begun <- e
		case *browser.EventDownloadProgress:
			if e.State != browser.DownloadProgressStateInProgress {
				ended <- e
			}
		}
	}))
	_, err := chromedp.Call(b.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: dir, EventsEnabled: &on,
		BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
	})
	require.NoError(b.t, err)
	b.do(chromedp.Click(chromedp.CSS(selector)))
	select {
	case e := <-ended:
		require.Equal(b.t, browser.DownloadProgressStateCompleted, e.State)
		return filepath.Join(dir, e.GUID), (<-begun).SuggestedFilename
	case <-time.After(30 * time.Second):
		require.Fail(b.t, "nothing was downloaded")
		return "", ""
	}
}

// TestBrowserDownload: the downloaded audit trail equals the pages, event by event,
// complete and filtered, with JavaScript and without.
func TestBrowserDownload(t *testing.T) {
	s := start(t, fixtures(""))
	for _, mode := range []struct {
		name, query string
		scripts     bool
	}{{"everything, scripts on", "", true}, {"filtered, scripts off", "?kind=session&user=root", false}} {
		t.Run(mode.name, func(t *testing.T) {
			b := newTab(t)
			b.scripts(mode.scripts)
			b.open(s.AppURL + "/admin/audit" + mode.query)
			b.signIn("root", "administers it")
			require.Equal(t, s.AppURL+"/admin/audit"+mode.query, b.location())
			shown := b.events()
			for b.count(`.pager [rel="next"]`) > 0 {
				b.press(`.pager [rel="next"]`)
				shown = append(shown, b.events()...)
			}
			require.NotEmpty(t, shown)
			file, name := b.downloads(`a[href^="/admin/audit.jsonl"]`)
			require.Equal(t, "mintmark-audit.jsonl", name)
			whole := downloaded(t, file)
			for i := range whole {
				whole[i] = auditRow{whole[i][0], whole[i][1]}
			}
			require.Equal(t, shown, whole)
			require.Equal(t, "Audit log", b.text("h1"), "the page stays")
		})
	}
}

// An auditRow is an event: time, actor, client, other user, and details.
type auditRow [5]string

// events returns the time and the actor of each event that the page shows.
func (b *tab) events() []auditRow {
	b.t.Helper()
	return evaluate[[]auditRow](b, `[...document.querySelectorAll("tbody tr:not(.day)")].map(r => {
		const [, by, when] = r.cells;
		const user = by.querySelector("a[href^='/admin/users/']");
		return [when.querySelector("time").dateTime, user ? user.getAttribute("href").slice("/admin/users/".length) : by.textContent, "", "", ""];
	})`)
}

// downloaded returns the events of a downloaded file.
func downloaded(t *testing.T, file string) (rows []auditRow) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	last := uint64(math.MaxUint64)
	for line := range strings.Lines(string(text)) {
		var e struct {
			Seq                               uint64
			At                                time.Time
			Kind, Actor, Client, User, Detail string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		require.NotEmpty(t, e.Kind)
		require.Less(t, e.Seq, last, "the newest event must be first")
		last = e.Seq
		if e.User == e.Actor {
			e.User = ""
		}
		if e.Actor == "operator" {
			e.Actor = "Operator"
		}
		rows = append(rows, auditRow{e.At.UTC().Format("2006-01-02T15:04:05Z"), e.Actor, e.Client, e.User, e.Detail})
	}
	return rows
}
