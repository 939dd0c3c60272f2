package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// events returns the events of a download.
func (b *browser) events(query string) (list []map[string]any) {
	b.env.t.Helper()
	res := b.get("/admin/audit.jsonl?" + query)
	require.Equal(b.env.t, http.StatusOK, res.StatusCode)
	assert.Equal(b.env.t, "application/jsonl; charset=utf-8", res.Header.Get("Content-Type"))
	assert.Equal(b.env.t, `attachment; filename="mintmark-audit.jsonl"`, res.Header.Get("Content-Disposition"))
	assert.Equal(b.env.t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	assert.Equal(b.env.t, "no-store", res.Header.Get("Cache-Control"))
	for line := range strings.Lines(res.body) {
		var e map[string]any
		require.NoError(b.env.t, json.Unmarshal([]byte(line), &e), line)
		list = append(list, e)
	}
	return list
}

// auditTrail returns an env with events at noon and a day later.
func auditTrail(t *testing.T) (w *env, root *browser) {
	w, _ = administration(t)
	w.signedIn().allow()
	w.advance(24 * time.Hour)
	root = w.signedInAs("root")
	root.done(root.press(waitingPage, waitingPage+"/review", "verdict", "reject", "reason", "No <b>reason</b>."))
	return w, root
}

func TestAudit(t *testing.T) {
	_, root := auditTrail(t)
	page := root.get("/admin/audit")
	for _, text := range []string{
		`<td data-name="What">Application reviewed</td>`, "<bdi>reject: No &lt;b&gt;reason&lt;/b&gt;.</bdi>",
		`<a href="/admin/clients/waiting"><bdi>The waiting app</bdi></a>`, `<a href="/admin/users/u-root"><bdi>root</bdi></a>`,
		`<time datetime="2026-03-05T12:00Z" data-exact>5 March 2026, 12:00 UTC</time>`, "<bdi>Operator</bdi>",
		`<a href="/admin/audit.jsonl">Download everything</a>`,
	} {
		assert.Contains(t, page.body, text)
	}
	assert.Less(t, strings.Index(page.body, "Application reviewed</td>"), strings.Index(page.body, "Application imported</td>"), "newest first")
}

func TestAuditFilters(t *testing.T) {
	_, root := auditTrail(t)
	all := len(root.events(""))
	for query, want := range map[string]int{
		"client=calendar": 2, "client=nobody": 0, "user=ada": 10, "user=ADA": 10, "user=u-ada": 10, "user=nobody": 0,
		"kind=client.reviewed": 1, "kind=grant": 1, "kind=client": 7, "kind=odd": 0, "client=calendar&kind=grant": 1,
		"from=2026-03-05": 2, "from=2026-03-05+12:00": 2, "from=2026-03-05T12:01": 0, "to=2026-03-04": all - 2, "to=2026-03-05": all,
		"to=2026-03-05T12:00:00Z": all - 2, "from=2026-03-04&to=2026-03-04": all - 2, "from=+&to=&kind=": all,
		"user=" + strings.Repeat("x", 300): 0,
	} {
		t.Run(query, func(t *testing.T) {
			assert.Len(t, root.events(query), want)
			page := root.get("/admin/audit?" + query)
			assert.Equal(t, min(want, 25), strings.Count(page.body, `<th scope="row">`))
			if want == 0 {
				assert.Contains(t, page.body, "No event was found.")
			}
		})
	}
	page := root.get("/admin/audit?client=%22x&user=ada&kind=client.reviewed&from=2026-03-04&to=2026-03-05+13:00")
	for _, text := range []string{
		`value="&#34;x"`, `value="ada"`, `<option value="client.reviewed" selected>Application reviewed, suspended or resumed</option>`, `value="2026-03-04"`, `value="2026-03-05 13:00"`,
		`<a href="/admin/audit.jsonl?client=%22x&amp;from=2026-03-04&amp;kind=client.reviewed&amp;to=2026-03-05&#43;13%3A00&amp;user=ada">Download all that was found</a>`,
	} {
		assert.Contains(t, page.body, text)
	}
}

func TestAuditFilterProblems(t *testing.T) {
	_, root := auditTrail(t)
	for query, says := range map[string]string{
		"from=yesterday":                            `id="f-from-error">From must be a day such as 2026-03-04`,
		"to=2026-13-01":                             `id="f-to-error">Until must be a day such as 2026-03-04`,
		"from=2026-03-05&to=2026-03-04":             `id="f-to-error">Until must be later than the beginning.`,
		"from=2026-03-05+10:00&to=2026-03-05+10:00": `id="f-to-error">Until must be later`,
		"from=%3Cscript%3E":                         `value="&lt;script&gt;"`,
	} {
		page := root.get("/admin/audit?" + query)
		assert.Equal(t, http.StatusUnprocessableEntity, page.StatusCode, query)
		assert.Contains(t, page.body, says)
		assert.NotContains(t, page.body, "Download")
		assert.Contains(t, page.body, "<b>Check the form.</b>", "the alert must not mention changes")
		assert.Equal(t, http.StatusBadRequest, root.get("/admin/audit.jsonl?"+query).StatusCode)
	}
}

func TestAuditIsPaged(t *testing.T) {
	w, root := auditTrail(t)
	for i := range 50 {
		w.must(&ledger.PutUser{ID: "u-bob", Username: fmt.Sprint("bob-", i)})
	}
	seen := map[string]bool{}
	next := "/admin/audit?kind=user"
	for pages := 1; ; pages++ {
		require.Less(t, pages, 10)
		page := root.get(next)
		assert.Equal(t, pages > 1, strings.Contains(page.body, `<a class="button small" href="/admin/audit?kind=user">First</a>`))
		rows := strings.Split(page.body, `<th scope="row">`)[1:]
		seen[strconv.Itoa(pages)+": "+strconv.Itoa(len(rows))] = true
		_, rest, more := strings.Cut(page.body, `href="/admin/audit?after=`)
		if !more {
			break
		}
		after, _, _ := strings.Cut(rest, `&`)
		next = "/admin/audit?" + url.Values{"after": {after}, "kind": {"user"}}.Encode()
	}
	assert.Equal(t, map[string]bool{"1: 25": true, "2: 25": true, "3: 4": true}, seen)
	assert.Equal(t, http.StatusOK, root.get("/admin/audit?after=x").StatusCode)
}

func TestAuditDownload(t *testing.T) {
	_, root := auditTrail(t)
	list := root.events("kind=client.reviewed")
	require.Len(t, list, 1)
	assert.Equal(t, map[string]any{
		"seq": list[0]["seq"], "at": "2026-03-05T12:00:00Z", "kind": "client.reviewed", "actor": "u-root", "actor_name": "root",
		"client": "waiting", "user": "u-ada", "user_name": "ada", "detail": "reject: No <b>reason</b>.",
	}, list[0])
	list = root.events("kind=grant")
	require.Len(t, list, 1)
	assert.NotEmpty(t, list[0]["grant"])
	list = root.events("")
	for i := range len(list) - 1 {
		assert.Greater(t, list[i]["seq"], list[i+1]["seq"], "newest first")
	}
	assert.Empty(t, root.send(http.MethodHead, "/admin/audit.jsonl", nil, nil).body)
}

// TestEventWords verifies that every kind of event has one text.
func TestEventWords(t *testing.T) {
	_, root := auditTrail(t)
	page := root.get("/admin/audit?client=nobody").body
	for _, kind := range ledger.EventKinds {
		assert.Equal(t, 1, strings.Count(page, `<option value="`+string(kind)+`">`), kind)
	}
}
