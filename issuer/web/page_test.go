package web_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// TestTemplatesHoldNoScriptAndNoStyle: the policy forbids them, so a page with one would
// not work.
func TestTemplatesHoldNoScriptAndNoStyle(t *testing.T) {
	var files []string
	require.NoError(t, fs.WalkDir(os.DirFS("."), "templates", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	require.NotEmpty(t, files)
	forbidden := regexp.MustCompile(`(?i)<script|<style|\sstyle=|\son[a-z]+=|javascript:|<iframe|<object|<base|http-equiv|data:`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Empty(t, forbidden.FindAllString(string(text), -1), name)
	}
}

// TestClassesHaveRules verifies that the stylesheet has the classes of the templates.
func TestClassesHaveRules(t *testing.T) {
	style := string(ui.Served().Style.Text)
	for _, pattern := range []string{"templates/*.html", "templates/*/*.html"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, m := range regexp.MustCompile(` class="([a-z -]+)"`).FindAllStringSubmatch(string(text), -1) {
				for class := range strings.FieldsSeq(m[1]) {
					assert.Regexp(t, `\.`+class+`\b`, style, file)
				}
			}
		}
	}
}

// probes are inputs that try to become more than text on a page.
var probes = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`,
	`</title><script>alert(1)</script>`, `{{.Token}}`, `&lt;b&gt;`, `javascript:alert(1)`, `<!--`, `\u003cscript`,
}

// withoutScript removes the element of the script of the pages.
func withoutScript(body string) string {
	return regexp.MustCompile(`<script src="/assets/script-[0-9a-f]{16}\.js" defer></script>`).ReplaceAllString(body, "")
}

// checkProbe verifies that a probe is escaped.
func checkProbe(t *testing.T, page answer, probe string) {
	t.Helper()
	assert.Equal(t, 1, strings.Count(page.body, "</title>"))
	body := withoutScript(page.body)
	for _, s := range []string{"<script", "<img src=x", "onerror=alert(1)>", "' onmouseover='", "</title><", "<!--", `href="javascript:`} {
		assert.NotContains(t, body, s, "probe %q", probe)
	}
	assert.NotContains(t, page.Header.Get("Content-Security-Policy"), "alert")
}

// TestProbesStayText verifies that input of others is escaped.
func TestProbesStayText(t *testing.T) {
	check := checkProbe
	for i, probe := range probes {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := newEnv(t)
			w.client("probe", func(c *ledger.ImportClient) {
				c.Profile.Name = probe
				c.Profile.Website = "https://x.example/?" + strings.NewReplacer(" ", "", `"`, "", "<", "", ">", "", `\`, "").Replace(probe)
			})
			w.must(&ledger.PutUser{ID: "u-probe", Username: "p'`&{{}}" + strconv.Itoa(i), Person: ledger.Person{Name: probe}, Password: passwordHash()})
			b := w.browser()
			request := with(good(), "client_id", "probe", "state", probe, "foo", probe)
			in := b.get(at(request))
			check(t, in, probe)
			check(t, b.signIn(in, probe, "wrong"), probe)
			res := b.signIn(in, "p'`&{{}}"+strconv.Itoa(i), password)
			require.Equal(t, http.StatusSeeOther, res.StatusCode)
			consent := b.get(res.Header.Get("Location"))
			require.Equal(t, http.StatusOK, consent.StatusCode)
			check(t, consent, probe)
			assert.Contains(t, consent.form(t, authorizePath).Get("next"), "state=")
			got := b.decide(consent, "allow").location(t, callback)
			assert.Equal(t, probe, got.Get("state"))
			for _, path := range []string{"/", "/account", "/account/password", "/connected-apps", "/connected-apps/probe"} {
				page := b.get(path)
				assert.Equal(t, http.StatusOK, page.StatusCode, path)
				check(t, page, probe)
			}
			check(t, b.get("/connected-apps?"+url.Values{"q": {probe}, "after": {probe}, "done": {probe}}.Encode()), probe)
			check(t, w.browser().get("/auth/sign-in?"+url.Values{"to": {probe}, "note": {probe}}.Encode()), probe)
			for _, name := range []string{"client_id", "redirect_uri"} {
				page := b.get(at(with(request, name, probe)))
				assert.Equal(t, http.StatusBadRequest, page.StatusCode)
				check(t, page, probe)
			}
			check(t, b.do(httptest.NewRequest(http.MethodGet, "/x", nil), func(r *http.Request) { r.URL.Path += probe }), probe)
		})
	}
}

// TestRecordSaysHowLongARequestTook verifies the unit of the log's key.
func TestRecordSaysHowLongARequestTook(t *testing.T) {
	const least = 20 * time.Millisecond
	w := newEnv(t, func(c *web.Config) {
		c.Code = func(context.Context, *ledger.Issued, uint64) (credential.Code, error) {
			time.Sleep(least)
			return credential.Code{}, errors.New("no code")
		}
	})
	b := w.signedIn()
	b.decide(b.get(at(good())), "allow")
	lines := regexp.MustCompile(`method=POST .*took_ms=([0-9.]+)`).FindAllStringSubmatch(w.log.String(), -1)
	require.NotEmpty(t, lines)
	took, err := strconv.ParseFloat(lines[len(lines)-1][1], 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, took, float64(least.Milliseconds()))
	require.Less(t, took, float64(time.Minute.Milliseconds()))
}

func TestErrorPages(t *testing.T) {
	t.Run("not found", func(t *testing.T) {
		res := newEnv(t).browser().get("/nowhere")
		assert.Equal(t, http.StatusNotFound, res.StatusCode)
		assert.Contains(t, res.body, "<title>Page not found · Mintmark</title>")
		assert.Contains(t, res.Header.Get("Content-Type"), "text/html")
	})
	t.Run("wrong method", func(t *testing.T) {
		for _, method := range []string{"PUT", "DELETE", "OPTIONS", "PATCH"} {
			res := newEnv(t).browser().send(method, authorizePath, nil, nil)
			assert.Equal(t, http.StatusMethodNotAllowed, res.StatusCode)
			assert.Contains(t, res.Header.Get("Allow"), "GET")
		}
	})
	t.Run("a panic", func(t *testing.T) {
		w := newEnv(t, func(c *web.Config) {
			c.Code = func(context.Context, *ledger.Issued, uint64) (credential.Code, error) { panic("broken invariant") }
		})
		b := w.signedIn()
		res := b.decide(b.get(at(good())), "allow")
		assert.Equal(t, http.StatusInternalServerError, res.StatusCode)
		assert.Contains(t, res.body, "Something went wrong")
		assert.NotContains(t, res.body, "invariant")
		assert.NotContains(t, res.body, "goroutine")
		assert.Contains(t, w.log.String(), "broken invariant")
		assert.Contains(t, w.log.String(), "status=500")
	})
	t.Run("an error", func(t *testing.T) {
		w := newEnv(t, func(c *web.Config) {
			c.Code = func(context.Context, *ledger.Issued, uint64) (credential.Code, error) {
				return credential.Code{}, fmt.Errorf("disk on fire")
			}
		})
		b := w.signedIn()
		res := b.decide(b.get(at(good())), "allow")
		assert.Equal(t, http.StatusInternalServerError, res.StatusCode)
		assert.NotContains(t, res.body, "disk")
		assert.Contains(t, w.log.String(), "disk on fire")
	})
	t.Run("an aborted answer stays aborted", func(t *testing.T) {
		w := newEnv(t, func(c *web.Config) {
			c.Code = func(context.Context, *ledger.Issued, uint64) (credential.Code, error) { panic(http.ErrAbortHandler) }
		})
		b := w.signedIn()
		page := b.get(at(good()))
		assert.PanicsWithValue(t, http.ErrAbortHandler, func() { b.decide(page, "allow") })
	})
	t.Run("configuration", func(t *testing.T) {
		_, err := web.New(web.Config{})
		assert.ErrorContains(t, err, "no ledger")
	})
}

func TestAssets(t *testing.T) {
	w := newEnv(t)
	b := w.browser()
	page := b.get("/auth/sign-in").body + w.signedIn().get("/").body
	for name, want := range map[string]string{
		"style": "text/css; charset=utf-8", "icon": "image/svg+xml", "icons": "image/svg+xml", "script": "text/javascript; charset=utf-8",
	} {
		path := regexp.MustCompile(`/assets/` + name + `-[0-9a-f]{16}\.[a-z]+`).FindString(page)
		require.NotEmpty(t, path)
		res := b.get(path)
		assert.Equal(t, http.StatusOK, res.StatusCode)
		assert.Equal(t, want, res.Header.Get("Content-Type"))
		assert.Equal(t, "public, max-age=31536000, immutable", res.Header.Get("Cache-Control"))
		assert.NotEmpty(t, res.body)
		assert.Empty(t, b.send(http.MethodHead, path, nil, nil).body)

		older := b.get(regexp.MustCompile(`-[0-9a-f]{16}`).ReplaceAllString(path, "-0123456789abcdef"))
		assert.Equal(t, http.StatusOK, older.StatusCode, "as while a cluster is upgraded")
		assert.Equal(t, "no-cache", older.Header.Get("Cache-Control"))
	}
	for _, path := range []string{"/assets/", "/assets/style.css", "/assets/style-.css", "/assets/other-0123456789abcdef.css", "/assets/style-0123456789abcdef.svg"} {
		assert.Equal(t, http.StatusNotFound, b.get(path).StatusCode, path)
	}
}
