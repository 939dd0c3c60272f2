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
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestTemplatesHoldNoScriptAndNoStyle: the policy forbids them, so a page with one would
// not work.
func TestTemplatesHoldNoScriptAndNoStyle(t *testing.T) {
	var files []string
	require.NoError(t, fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "templates/") && !strings.HasPrefix(path, "ui/") {
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
	for _, pattern := range []string{"*/templates/*.html", "*/templates/*/*.html"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			if strings.HasPrefix(file, "ui/") {
				continue
			}
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

// TestProbesStayText verifies that input of others is escaped.
func TestProbesStayText(t *testing.T) {
	check := CheckProbe
	for i, probe := range Probes {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := NewEnv(t)
			w.Client("probe", func(c *ledger.ImportClient) {
				c.Profile.Name = probe
				c.Profile.Website = "https://x.example/?" + strings.NewReplacer(" ", "", `"`, "", "<", "", ">", "", `\`, "").Replace(probe)
			})
			w.Must(&ledger.PutUser{ID: "u-probe", Username: "p'`&{{}}" + strconv.Itoa(i), Person: ledger.Person{Name: probe}, Password: PasswordHash()})
			b := w.Browser()
			request := With(Good(), "client_id", "probe", "state", probe, "foo", probe)
			in := b.Get(At(request))
			check(t, in, probe)
			check(t, b.SignIn(in, probe, "wrong"), probe)
			res := b.SignIn(in, "p'`&{{}}"+strconv.Itoa(i), Password)
			require.Equal(t, http.StatusSeeOther, res.StatusCode)
			consent := b.Get(res.Header.Get("Location"))
			require.Equal(t, http.StatusOK, consent.StatusCode)
			check(t, consent, probe)
			assert.Contains(t, consent.Form(t, AuthorizePath).Get("next"), "state=")
			got := b.Decide(consent, "allow").Location(t, Callback)
			assert.Equal(t, probe, got.Get("state"))
			for _, path := range []string{"/", "/account", "/account/password", "/connected-apps", "/connected-apps/probe"} {
				page := b.Get(path)
				assert.Equal(t, http.StatusOK, page.StatusCode, path)
				check(t, page, probe)
			}
			check(t, b.Get("/connected-apps?"+url.Values{"q": {probe}, "after": {probe}, "done": {probe}}.Encode()), probe)
			check(t, w.Browser().Get("/auth/sign-in?"+url.Values{"to": {probe}, "note": {probe}}.Encode()), probe)
			for _, name := range []string{"client_id", "redirect_uri"} {
				page := b.Get(At(With(request, name, probe)))
				assert.Equal(t, http.StatusBadRequest, page.StatusCode)
				check(t, page, probe)
			}
			check(t, b.Do(httptest.NewRequest(http.MethodGet, "/x", nil), func(r *http.Request) { r.URL.Path += probe }), probe)
		})
	}
}

// TestRecordSaysHowLongARequestTook verifies the unit of the log's key.
func TestRecordSaysHowLongARequestTook(t *testing.T) {
	const least = 20 * time.Millisecond
	w := NewEnv(t, func(c *web.Config) {
		c.Code = func(context.Context, *ledger.Issued, uint64) (credential.Code, error) {
			time.Sleep(least)
			return credential.Code{}, errors.New("no code")
		}
	})
	b := w.SignedIn()
	b.Decide(b.Get(At(Good())), "allow")
	lines := regexp.MustCompile(`method=POST .*took_ms=([0-9.]+)`).FindAllStringSubmatch(w.Log.String(), -1)
	require.NotEmpty(t, lines)
	took, err := strconv.ParseFloat(lines[len(lines)-1][1], 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, took, float64(least.Milliseconds()))
	require.Less(t, took, float64(time.Minute.Milliseconds()))
}

func TestErrorPages(t *testing.T) {
	t.Run("not found", func(t *testing.T) {
		res := NewEnv(t).Browser().Get("/nowhere")
		assert.Equal(t, http.StatusNotFound, res.StatusCode)
		assert.Contains(t, res.Text, "<title>Page not found · Mintmark</title>")
		assert.Contains(t, res.Header.Get("Content-Type"), "text/html")
	})
	t.Run("wrong method", func(t *testing.T) {
		for _, method := range []string{"PUT", "DELETE", "OPTIONS", "PATCH"} {
			res := NewEnv(t).Browser().Send(method, AuthorizePath, nil, nil)
			assert.Equal(t, http.StatusMethodNotAllowed, res.StatusCode)
			assert.Contains(t, res.Header.Get("Allow"), "GET")
		}
	})
	t.Run("a panic", func(t *testing.T) {
		w := NewEnv(t, func(c *web.Config) {
			c.Code = func(context.Context, *ledger.Issued, uint64) (credential.Code, error) { panic("broken invariant") }
		})
		b := w.SignedIn()
		res := b.Decide(b.Get(At(Good())), "allow")
		assert.Equal(t, http.StatusInternalServerError, res.StatusCode)
		assert.Contains(t, res.Text, "Something went wrong")
		assert.NotContains(t, res.Text, "invariant")
		assert.NotContains(t, res.Text, "goroutine")
		assert.Contains(t, w.Log.String(), "broken invariant")
		assert.Contains(t, w.Log.String(), "status=500")
	})
	t.Run("an error", func(t *testing.T) {
		w := NewEnv(t, func(c *web.Config) {
			c.Code = func(context.Context, *ledger.Issued, uint64) (credential.Code, error) {
				return credential.Code{}, fmt.Errorf("disk on fire")
			}
		})
		b := w.SignedIn()
		res := b.Decide(b.Get(At(Good())), "allow")
		assert.Equal(t, http.StatusInternalServerError, res.StatusCode)
		assert.NotContains(t, res.Text, "disk")
		assert.Contains(t, w.Log.String(), "disk on fire")
	})
	t.Run("an aborted answer stays aborted", func(t *testing.T) {
		w := NewEnv(t, func(c *web.Config) {
			c.Code = func(context.Context, *ledger.Issued, uint64) (credential.Code, error) { panic(http.ErrAbortHandler) }
		})
		b := w.SignedIn()
		page := b.Get(At(Good()))
		assert.PanicsWithValue(t, http.ErrAbortHandler, func() { b.Decide(page, "allow") })
	})
	t.Run("configuration", func(t *testing.T) {
		_, err := web.New(web.Config{})
		assert.ErrorContains(t, err, "no ledger")
	})
}

func TestAssets(t *testing.T) {
	w := NewEnv(t)
	b := w.Browser()
	page := b.Get("/auth/sign-in").Text + w.SignedIn().Get("/").Text
	for name, want := range map[string]string{
		"style": "text/css; charset=utf-8", "icon": "image/svg+xml", "icons": "image/svg+xml", "script": "text/javascript; charset=utf-8",
	} {
		path := regexp.MustCompile(`/assets/` + name + `-[0-9a-f]{16}\.[a-z]+`).FindString(page)
		require.NotEmpty(t, path)
		res := b.Get(path)
		assert.Equal(t, http.StatusOK, res.StatusCode)
		assert.Equal(t, want, res.Header.Get("Content-Type"))
		assert.Equal(t, "public, max-age=31536000, immutable", res.Header.Get("Cache-Control"))
		assert.NotEmpty(t, res.Text)
		assert.Empty(t, b.Send(http.MethodHead, path, nil, nil).Text)

		older := b.Get(regexp.MustCompile(`-[0-9a-f]{16}`).ReplaceAllString(path, "-0123456789abcdef"))
		assert.Equal(t, http.StatusOK, older.StatusCode, "as while a cluster is upgraded")
		assert.Equal(t, "no-cache", older.Header.Get("Cache-Control"))
	}
	for _, path := range []string{"/assets/", "/assets/style.css", "/assets/style-.css", "/assets/other-0123456789abcdef.css", "/assets/style-0123456789abcdef.svg"} {
		assert.Equal(t, http.StatusNotFound, b.Get(path).StatusCode, path)
	}
}

// TestBrand verifies that pages show the name, the links and the logo of the service.
func TestBrand(t *testing.T) {
	w := NewEnv(t)
	signedIn, nobody := w.SignedIn(), w.Browser()
	s := *w.View().Settings()
	s.Brand.Name, s.Brand.PrivacyURL, s.Brand.HelpURL = "Zeta & Co", "https://zeta.example/privacy", "https://zeta.example/help"
	w.Must(&ledger.Configure{Settings: s})
	s = *w.View().Settings()
	picture := Drawn(32, 32)
	s.Brand.Logo = [32]byte(DigestOf(picture))
	w.Must(&ledger.SetBrand{Actor: ledger.Actor{Operator: true}, Step: ledger.BrandPublish, Brand: s.Brand, Logo: picture, ExpectedLast: s.Last})
	for address, b := range map[string]*Browser{"/auth/sign-in": nobody, "/developer": signedIn} {
		page := b.Get(address).Text
		require.Contains(t, page, " · Zeta &amp; Co</title>", address)
		require.NotContains(t, page, "Mintmark", address)
		require.Contains(t, page, `src="/logos/`, address)
	}
	page := nobody.Get("/auth/sign-in").Text
	require.Contains(t, page, `href="https://zeta.example/privacy"`)
	require.Contains(t, page, `href="https://zeta.example/help"`)
	require.NotContains(t, page, "Terms")
}
