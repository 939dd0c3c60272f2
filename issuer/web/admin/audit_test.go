package admin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// auditTrail returns an env with events at noon and a day later.
func auditTrail(t *testing.T) (w *Env, root *Browser) {
	w, _ = Administration(t)
	w.SignedIn().Allow()
	w.Advance(24 * time.Hour)
	root = w.SignedInAs("root")
	root.Done(root.Press(WaitingPage, WaitingPage+"/review", "verdict", "reject", "reason", "No <b>reason</b>."))
	return w, root
}

func TestAudit(t *testing.T) {
	_, root := auditTrail(t)
	page := root.Get("/admin/audit")
	for _, text := range []string{
		`<tr class="day"><th colspan="3" scope="rowgroup">5 March 2026</th></tr>`, `<tr class="day"><th colspan="3" scope="rowgroup">4 March 2026</th></tr>`,
		`<th scope="row"><div>Rejected <a href="/admin/clients/waiting"><bdi>The waiting app</bdi></a><p class="quiet"><bdi>No &lt;b&gt;reason&lt;/b&gt;.</bdi></p></div></th>`,
		`<td><a href="/admin/users/u-root"><bdi>root</bdi></a></td>`,
		`<td data-name="When">12:00 · <time datetime="2026-03-05T12:00:00Z" title="5 March 2026, 12:00 UTC" data-ago>just now</time></td>`, "<bdi>Operator</bdi>",
		`<td data-name="When"><time datetime="2026-03-04T12:00:00Z">12:00</time></td>`, `<option value="-session" selected>`,
		`<a class="button" href="/admin/audit.jsonl?kind=-session">Download JSON<span`, `<p role="status">15 events</p>`,
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.Less(t, strings.Index(page.Text, "Rejected <a"), strings.Index(page.Text, "Imported <a"), "newest first")
	assert.Contains(t, page.Text, `<th scope="col" aria-sort="descending"><a href="/admin/audit?sort=oldest">When</a></th>`)

	assert.NotContains(t, page.Text, "Signed in</div>")
	assert.NotContains(t, page.Text, "Show all")
	assert.Contains(t, root.Get("/admin/audit?kind=all").Text, `<p role="status">18 events</p>`)

	page = root.Get("/admin/audit?sort=oldest")
	assert.Greater(t, strings.Index(page.Text, "Rejected <a"), strings.Index(page.Text, "Imported <a"), "oldest first")
	assert.Contains(t, page.Text, `<th scope="col" aria-sort="ascending"><a href="/admin/audit">When</a></th>`)
	assert.Contains(t, page.Text, `<p role="status">15 events</p>`)
}

func TestAuditFilters(t *testing.T) {
	_, root := auditTrail(t)
	all := len(root.Events(""))
	for query, want := range map[string]int{
		"client=calendar": 2, "client=nobody": 0, "user=ada": 10, "user=ADA": 10, "user=u-ada": 10, "user=nobody": 0,
		"kind=client.reviewed": 1, "kind=client.reviewed:approve,reject": 1, "kind=client.reviewed:suspend,resume": 0, "kind=client.reviewed:": 0, "kind=client.reviewed:approve": 0, "kind=grant": 1, "kind=client": 7, "kind=odd": 0, "kind=all": all, "kind=-session": all - 3, "kind=-client.reviewed": all - 1,
		"client=the+Calendar+App&kind=all": 2, "client=The+calendar&kind=all": 0, "client=calendar&kind=grant": 1,
		"from=2026-03-05&kind=all": 2, "from=2026-03-05+12:00&kind=all": 2, "from=2026-03-05T12:01": 0, "to=2026-03-04&kind=all": all - 2, "to=2026-03-05&kind=all": all,
		"to=2026-03-05T12:00:00Z&kind=all": all - 2, "from=2026-03-04&to=2026-03-04&kind=all": all - 2, "from=+&to=&kind=+all": all,
		"user=" + strings.Repeat("x", 300): 0,
	} {
		t.Run(query, func(t *testing.T) {
			assert.Len(t, root.Events(query), want)
			page := root.Get("/admin/audit?" + query)
			assert.Equal(t, min(want, 25), strings.Count(page.Text, `<th scope="row">`))
			if want == 0 {
				assert.Regexp(t, "No event matches|is called “<bdi>(nobody|The calendar|x+)</bdi>”", page.Text)
			}
		})
	}
	filter := root.Get("/admin/audit?kind=client.reviewed:approve,reject").Text
	assert.Contains(t, filter, `<option value="client.reviewed:approve,reject" selected>Application approved or rejected</option>`)
	assert.Contains(t, filter, `<p>Application approved or rejected · <a href="/admin/audit">Show all</a></p>`)
	assert.Contains(t, filter, `<a class="button" href="/admin/audit.jsonl?kind=client.reviewed%3Aapprove%2Creject">`)
	page := root.Get("/admin/audit?client=%22x&user=ada&kind=client.reviewed&from=2026-03-04&to=2026-03-05+13:00")
	for _, text := range []string{
		`value="&#34;x"`, `value="ada"`, `<option value="client.reviewed" selected>Application approved, rejected, suspended, resumed</option>`, `type="datetime-local" value="2026-03-04T00:00"`, `type="datetime-local" value="2026-03-05T13:00"`,
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.NotContains(t, page.Text, "Download", "nothing was found")
	assert.Contains(t, root.Get("/admin/audit?client=waiting&kind=client.reviewed&from=2026-03-04&to=2026-03-05+13:00").Text,
		`href="/admin/audit.jsonl?client=waiting&amp;from=2026-03-04&amp;kind=client.reviewed&amp;to=2026-03-05&#43;13%3A00">Download JSON<span`)
}

// TestAuditNames verifies that filters take and show names, and that a line says what they select.
func TestAuditNames(t *testing.T) {
	w, root := auditTrail(t)
	page := root.Get("/admin/audit?client=calendar&user=u-ada&kind=grant&from=2026-03-04")
	for _, text := range []string{
		`name="client" type="text" value="The calendar app"`, `name="user" type="text" value="ada"`,
		`<p>Access to accounts · <b><a href="/admin/clients/calendar"><bdi>The calendar app</bdi></a></b> · <b><a href="/admin/users/u-ada"><bdi>ada</bdi></a></b> · from 4 March 2026, 00:00 UTC · <a href="/admin/audit">Show all</a></p>`,
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.Contains(t, page.Text, `<td data-name="When"><time datetime="2026-03-04T12:00:00Z">4 Mar, 12:00 UTC</time></td>`)
	assert.NotContains(t, page.Text, `class="day"`, "each event has its date")
	assert.Contains(t, page.Text, "<details open>")
	assert.Contains(t, root.Get("/admin/audit?user=u-ada").Text, `<option value="all" selected>`, "who looks at a user wants the sign-ins")
	assert.Contains(t, root.Get("/admin/audit?user=u-ada&kind=-session").Text, "· without signing in and out · <a")
	assert.Contains(t, root.Get("/admin/audit?client=calendar&kind=user").Text, "<b>No event matches</b>")

	assert.Contains(t, root.Get("/admin/audit?client=calend").Text, `<a class="button" href="/admin/clients?q=calend">Search applications for “calend”</a>`)
	assert.Contains(t, root.Get("/admin/audit?user=ad").Text, `<a class="button" href="/admin/users?q=ad">Search users for “ad”</a>`)

	w.Client("second", func(c *ledger.ImportClient) { c.Profile.Name = "The Calendar App" })
	assert.Contains(t, root.Get("/admin/audit?client=the+calendar+app").Text, "Application is the name of several: enter a client ID.")
	assert.Contains(t, root.Get("/admin/audit?client=calendar").Text, `name="client" type="text" value="calendar"`)
}

func TestAuditFilterProblems(t *testing.T) {
	_, root := auditTrail(t)
	for query, says := range map[string]string{
		"from=yesterday":                            `id="f-from-error">From must be a day such as 2026-` + "\u206003-\u206004, or a time",
		"to=2026-13-01":                             `id="f-to-error">Until must be a day such as 2026-`,
		"from=2026-03-05&to=2026-03-04":             `id="f-to-error">Until must be later than the beginning.`,
		"from=2026-03-05+10:00&to=2026-03-05+10:00": `id="f-to-error">Until must be later`,
		"from=%3Cscript%3E":                         `value="&lt;script&gt;"`,
	} {
		page := root.Get("/admin/audit?" + query)
		assert.Equal(t, http.StatusUnprocessableEntity, page.StatusCode, query)
		assert.Contains(t, page.Text, says)
		assert.NotContains(t, page.Text, "Download")
		assert.Contains(t, page.Text, "<b>Check the form.</b>", "the alert must not mention changes")
		assert.Equal(t, http.StatusBadRequest, root.Get("/admin/audit.jsonl?"+query).StatusCode)
	}
}

func TestAuditIsPaged(t *testing.T) {
	w, root := auditTrail(t)
	for i := range 50 {
		w.Must(&ledger.PutUser{ID: "u-bob", Username: fmt.Sprint("bob-", i)})
	}
	seen := map[string]bool{}
	next := "/admin/audit?kind=user"
	for pages := 1; ; pages++ {
		require.Less(t, pages, 10)
		page := root.Get(next)
		assert.Equal(t, pages > 1, strings.Contains(page.Text, `<a class="button small" href="/admin/audit?kind=user">First</a>`))
		rows := strings.Split(page.Text, `<th scope="row">`)[1:]
		seen[strconv.Itoa(pages)+": "+strconv.Itoa(len(rows))] = true
		_, rest, more := strings.Cut(page.Text, `href="/admin/audit?after=`)
		if !more {
			break
		}
		after, _, _ := strings.Cut(rest, `&`)
		next = "/admin/audit?" + url.Values{"after": {after}, "kind": {"user"}}.Encode()
	}
	assert.Equal(t, map[string]bool{"1: 25": true, "2: 25": true, "3: 4": true}, seen)
	assert.Equal(t, http.StatusOK, root.Get("/admin/audit?after=x").StatusCode)
}

func TestAuditDownload(t *testing.T) {
	_, root := auditTrail(t)
	list := root.Events("kind=client.reviewed")
	require.Len(t, list, 1)
	assert.Equal(t, map[string]any{
		"seq": list[0]["seq"], "at": "2026-03-05T12:00:00Z", "kind": "client.reviewed", "actor": "u-root", "actor_name": "root",
		"client": "waiting", "user": "u-ada", "user_name": "ada", "detail": "reject: No <b>reason</b>.",
	}, list[0])
	list = root.Events("kind=grant")
	require.Len(t, list, 1)
	assert.NotEmpty(t, list[0]["grant"])
	list = root.Events("")
	for i := range len(list) - 1 {
		assert.Greater(t, list[i]["seq"], list[i+1]["seq"], "newest first")
	}
	assert.Empty(t, root.Send(http.MethodHead, "/admin/audit.jsonl", nil, nil).Text)
}

// TestEventWords verifies that every kind of event has one text.
func TestEventWords(t *testing.T) {
	_, root := auditTrail(t)
	page := root.Get("/admin/audit?client=nobody").Text
	for _, kind := range ledger.EventKinds {
		want := 1
		if kind == ledger.EventClientReviewed {
			want = 0 // its verdicts have options of their own
		}
		assert.Equal(t, want, strings.Count(page, `<option value="`+string(kind)+`">`), kind)
	}
	assert.Equal(t, 2, strings.Count(page, `<option value="client.reviewed:`))
}

// A deadlineWriter records whether each write of a body had a deadline of its own.
type deadlineWriter struct {
	*httptest.ResponseRecorder
	deadline time.Time
	without  int // writes
}

func (w *deadlineWriter) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

func (w *deadlineWriter) Write(b []byte) (int, error) {
	if w.deadline.IsZero() {
		w.without++
	}
	w.deadline = time.Time{}
	return w.ResponseRecorder.Write(b)
}

// TestAuditDownloadOutlastsTheTimeoutOfTheServer: a large download over a slow line takes longer
// than other responses may.
func TestAuditDownloadOutlastsTheTimeoutOfTheServer(t *testing.T) {
	w, root := Administration(t)
	for range 30 {
		w.SignedIn()
	}
	r := httptest.NewRequest(http.MethodGet, "/admin/audit.jsonl", nil)
	r.Header.Set("Test-Address", root.Address)
	for name, value := range root.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	out := &deadlineWriter{ResponseRecorder: httptest.NewRecorder()}
	w.Handler.ServeHTTP(out, r)
	require.Equal(t, http.StatusOK, out.Code)
	require.Greater(t, out.Body.Len(), 5000, "several writes")
	require.Zero(t, out.without)
}
