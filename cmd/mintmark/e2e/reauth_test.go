package e2e

import (
	"net/url"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestBrowserAsksForThePassword: an administrator whose browser was unused for twenty
// minutes enters the password once more, and keeps the input.
func TestBrowserAsksForThePassword(t *testing.T) {
	dir := t.TempDir()
	c := exec.Command(buildMoved(t))
	c.Env = append(os.Environ(), "MINTMARK_TEST_CLOCK=-20m")
	s, stop := startIn(t, dir, "127.0.0.1:0", c, fixtures(""))
	root := newTab(t)
	root.scripts(false)
	root.open(s.AppURL + "/admin/new-user")
	root.signIn("root", "administers it")
	require.Zero(t, root.count("#f-own_password"))
	stop()
	at, err := url.Parse(s.AppURL)
	require.NoError(t, err)
	s, stop = startIn(t, dir, at.Host, exec.Command(binary), fixtures(""), "--trust-clock")
	t.Cleanup(stop)

	root.open(s.AppURL + "/admin/new-user")
	root.fill("username", "carol")
	root.do(chromedp.Click(chromedp.CSS(`input[name="admin"]`)))
	root.press("main button.primary")
	require.Equal(t, "Your password is missing.", root.text("[role=alert] a"))
	require.Equal(t, "f-own_password", root.focused("id"))
	root.fill("own_password", "not the one")
	root.press("main button.primary")
	require.Equal(t, "Your password is not right.", root.text("[role=alert] a"))
	require.Empty(t, root.value("#f-own_password"))
	require.Equal(t, "carol", root.value("#f-username"))
	root.fill("own_password", "administers it")
	root.press("main button.primary")
	require.Equal(t, "carol was added", root.text("h1"))
	root.press("main a.primary")
	require.Contains(t, root.text(".head"), "Administrator")

	root.open(s.AppURL + "/admin/users/u-alice")
	root.press(`#role button`)
	require.Contains(t, root.text("[role=status]"), "is an administrator now", "the password is not requested again soon")
}
