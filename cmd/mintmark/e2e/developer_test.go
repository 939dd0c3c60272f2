package e2e

import (
	"encoding/json"
	"image"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestBrowserDeveloper: a person who makes an application, from its first page
// to its last, with JavaScript and without (service document, sections 2.1, 5.2
// and 5.4). What programs do is done with the lines that the pages give.
func TestBrowserDeveloper(t *testing.T) {
	for _, mode := range []struct {
		name    string
		scripts bool
	}{{"scripts on", true}, {"scripts off", false}} {
		t.Run(mode.name, func(t *testing.T) {
			app := startApplication(t)
			s := start(t, fixtures(""))
			b := newTab(t)
			b.scripts(mode.scripts)
			b.open(s.AppURL + "/")
			b.signIn("alice", "correct horse")
			b.press(`main a[href="/developer"]`)
			require.Contains(t, b.text("main"), "You have no applications yet.")

			// Register.
			b.press(`main a[href="/developer/new"]`)
			b.do(chromedp.Click(chromedp.CSS(`input[value="confidential"]`)))
			b.fill("name", "Trip Planner")
			b.fill("purpose", "Puts your trips into your calendar.")
			b.fill(`redirect_uris\.0`, app.uri)
			b.upload("logo", logoFile(t, 64))
			b.press("main button.primary")
			require.Contains(t, b.text("[role=alert]"), "The selection of scopes needs at least one.")
			require.Contains(t, b.text("[role=alert]"), "Logo has to be chosen again")
			b.upload("logo", logoFile(t, 64))
			b.do(chromedp.Click(chromedp.CSS(`input[value="PROFILE_READ"]`)), chromedp.Click(chromedp.CSS(`input[value="BOOKING_READ"]`)))
			b.press("main button.primary")
			require.Contains(t, b.text("[role=status]"), "The application was registered.")
			require.Contains(t, b.text("main"), "Waiting for review")
			require.NotEmpty(t, b.attribute("img.avatar", "src"))
			home := strings.TrimSuffix(b.location(), "?done=created")
			id := home[strings.LastIndex(home, "/")+1:]

			// Review.
			request := authorizeURL(s, id, app.uri, "scope", "PROFILE_READ")
			b.open(request)
			require.Equal(t, "This application has not been reviewed yet", b.text("h1"))
			s.operate("client", "reject", id, "--reason", "Say what it does with bookings.")
			b.open(home)
			require.Contains(t, b.text("main"), "Say what it does with bookings.")
			b.open(home + "/edit")
			b.fill("purpose", kb.End+" It reads your bookings.")
			b.press("main button.primary")
			require.Contains(t, b.text("[role=status]"), "reviews the application again")
			s.operate("client", "approve", id)

			// A secret, which is shown once.
			b.open(home + "/secrets")
			b.press("main button.primary")
			secret := b.value("#secret")
			require.Regexp(t, `^mms_.{43}$`, secret)
			_, err := chromedp.RunResponse(b.ctx, chromedp.Reload())
			require.NoError(t, err)
			require.Contains(t, b.text("[role=status]"), "is shown only once")
			require.NotContains(t, b.text("body"), secret)
			require.Contains(t, b.text("table"), "••••"+secret[len(secret)-4:])

			// Authorize and exchange.
			b.open(home + "/connect")
			lines := b.copied()
			b.open(lines[0])
			require.Contains(t, b.text("h1"), "Trip Planner")
			b.press(`button[value="allow"]`)
			got := app.answer(t)
			require.Contains(t, lines[0], "&state="+got.Get("state"))
			tokens := pasted(t, lines[1], "CODE="+got.Get("code"), "CLIENT_SECRET="+secret)
			require.Equal(t, "BOOKING_READ PROFILE_READ", tokens["scope"], tokens)
			me := pasted(t, lines[2], "ACCESS_TOKEN="+tokens["access_token"].(string))
			require.Equal(t, "success", me["status"], me)
			refresh := func(secret string) map[string]any {
				t.Helper()
				answer := pasted(t, lines[3], "REFRESH_TOKEN="+tokens["refresh_token"].(string), "CLIENT_SECRET="+secret)
				if answer["error"] == nil {
					tokens = answer
				}
				return answer
			}
			require.Nil(t, refresh(secret)["error"])

			// Rotate: both work, then only the new one.
			b.open(home + "/secrets")
			b.press("main button.primary")
			next := b.value("#secret")
			require.Nil(t, refresh(secret)["error"])
			require.Nil(t, refresh(next)["error"])
			b.press(`main a[href$="/secrets"]`)
			b.do(chromedp.Click(chromedp.CSS("tbody tr:nth-child(2) summary")))
			require.Contains(t, b.text("tbody tr:nth-child(2) .warning"), "It was used a moment ago.")
			b.press("tbody tr:nth-child(2) button")
			require.Contains(t, b.text("[role=status]"), "The secret was revoked.")
			refused := refresh(secret)
			require.Equal(t, "invalid_client", refused["error"])
			require.Nil(t, refresh(next)["error"], "tokens stay valid")

			// Why it was refused.
			b.open(home + "/errors")
			require.Contains(t, b.text("table"), "The client_secret was revoked.")
			b.do(chromedp.SendKeys(chromedp.CSS("#error_id"), refused["error_id"].(string)))
			b.press("main button.primary")
			require.Contains(t, b.text("section.panel"), "The client_secret was revoked.")
			b.open(strings.Replace(lines[0], url.QueryEscape(app.uri), url.QueryEscape(app.uri+"/"), 1))
			require.Equal(t, "/", b.text("mark"))

			// Who uses it, until they don't.
			b.open(home + "/users")
			require.Contains(t, b.text("table"), "u-alice")
			b.open(s.AppURL + "/connected-apps")
			b.press(`main form[action="/connected-apps/disconnect"] button`)
			require.Equal(t, "invalid_grant", refresh(next)["error"])

			// Somebody else takes it over, and deletes it.
			b.open(home + "/transfer")
			b.fill("username", "bob")
			b.press("main button.primary")
			bob := newTab(t)
			bob.scripts(mode.scripts)
			bob.open(home)
			bob.signIn("bob", "battery staple")
			require.Equal(t, "Page not found", bob.text("h1"))
			bob.open(s.AppURL + "/developer")
			bob.press(`section.panel a`)
			require.Equal(t, "Take over Trip Planner?", bob.text("h1"))
			bob.press("main button.primary")
			require.Equal(t, "Trip Planner", bob.text("h1"))
			b.open(home)
			require.Equal(t, "Page not found", b.text("h1"))
			bob.press(`a[href$="/delete"]`)
			bob.fill("name", "Trip")
			bob.press("main button.danger")
			require.Contains(t, bob.text("[role=alert]"), "is not what you typed")
			bob.fill("name", kb.End+" Planner")
			bob.press("main button.danger")
			require.Contains(t, bob.text("[role=status]"), "The application was deleted.")
			require.NotContains(t, bob.text("table"), "Trip Planner")
		})
	}
}

// TestBrowserMigration: a legacy client moves to scopes, in the right order and
// in the wrong one (service document, section 9).
func TestBrowserMigration(t *testing.T) {
	for _, mode := range []struct {
		name           string
		scripts, order bool
	}{{"scripts on, right order", true, true}, {"scripts off, wrong order", false, false}} {
		t.Run(mode.name, func(t *testing.T) {
			app := startApplication(t)
			s := start(t, fixturesFor(app.uri, ""))
			alice, b := newTab(t), newTab(t)
			b.scripts(mode.scripts)
			old := authorizeURL(s, "legacy-app", app.uri)
			b.open(s.AppURL + "/developer/clients/legacy-app")
			b.signIn("bob", "battery staple")
			b.press(`.tiles a[href$="/migration"]`)
			alice.open(s.AppURL + "/")
			alice.signIn("alice", "correct horse")
			if !mode.order {
				alice.open(old)
				alice.press(`button[value="allow"]`)
				require.NotEmpty(t, app.answer(t).Get("code"))
			}

			// Step 1: the new URL.
			b.do(chromedp.Click(chromedp.CSS(`input[value="PROFILE_READ"]`)))
			b.press("main form button.primary")
			scoped := b.copied()[0]
			require.Contains(t, scoped, "&scope=PROFILE_READ&")
			alice.open(scoped)
			require.Contains(t, alice.text("main"), "See your profile")
			alice.press(`button[value="allow"]`)
			require.NotEmpty(t, app.answer(t).Get("code"))

			// Step 2: the same scopes.
			b.open(b.location())
			require.Contains(t, b.text("main"), "Selected and asked for\nPROFILE_READ")
			b.press(`form[method="post"][action$="/migration"] button`)
			if !mode.order {
				require.Contains(t, b.text("[role=alert]"), "requests still come without scope")
				b.do(chromedp.Click(chromedp.CSS(`#f-confirm input`)))
				b.press(`form[method="post"][action$="/migration"] button`)
			}
			require.Contains(t, b.text("[role=status]"), "The scopes were selected.")
			alice.open(old)
			require.Equal(t, "invalid_scope", app.answer(t).Get("error"))
			alice.open(scoped)
			require.Contains(t, alice.text("h1"), "Classic App")
		})
	}
}

// upload chooses a file, by the name of the field.
func (b *tab) upload(name, file string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#f-"+name), []string{file}))
}

func (b *tab) value(selector string) string {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Value(chromedp.CSS(selector)))
	require.NoError(b.t, err)
	return value
}

func (b *tab) attribute(selector, name string) string {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.querySelector("+quoted(selector)+").getAttribute("+quoted(name)+")"))
	require.NoError(b.t, err)
	return value
}

// copied is what the page has to copy, in its order.
func (b *tab) copied() []string {
	b.t.Helper()
	list, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string]("[...document.querySelectorAll('pre.copy')].map(e => e.textContent)"))
	require.NoError(b.t, err)
	return list
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// pasted runs lines as a person does who has pasted them, and reads the JSON
// that comes back.
func pasted(t testing.TB, lines string, environment ...string) map[string]any {
	t.Helper()
	c := exec.Command("sh", "-c", strings.Replace(lines, "curl ", "curl -sS ", 1))
	c.Env = append(os.Environ(), environment...)
	out, err := c.Output()
	require.NoError(t, err)
	var answer map[string]any
	require.NoError(t, json.Unmarshal(out, &answer), "%s", out)
	return answer
}

// logoFile is a picture that may be a logo.
func logoFile(t testing.TB, side int) string {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range picture.Pix {
		picture.Pix[i] = byte(i * 7)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "logo.png"))
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, png.Encode(file, picture))
	return file.Name()
}
