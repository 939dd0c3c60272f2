package e2e

import (
	"encoding/json"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// upload selects a file, by the name of the field.
func (b *tab) upload(name, file string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#f-"+name), []string{file}))
}

// choose clicks the check boxes of scopes.
func (b *tab) choose(scopes ...string) {
	b.t.Helper()
	for _, scope := range scopes {
		b.do(chromedp.Click(chromedp.CSS(`input[value="` + scope + `"]`)))
	}
}

// addLine shows another line of the list of redirect URIs, or all without the script.
func (b *tab) addLine() {
	b.t.Helper()
	button := "fieldset summary"
	if evaluate[bool](b, "document.querySelector('[data-add]').checkVisibility()") {
		button = "[data-add]"
	}
	if b.count(button) > 0 && evaluate[bool](b, "document.querySelector("+quoted(button)+").parentElement.open !== true") {
		b.do(chromedp.Click(chromedp.CSS(button)))
	}
}

// count returns the number of elements that match a selector.
func (b *tab) count(selector string) int {
	b.t.Helper()
	return evaluate[int](b, "document.querySelectorAll("+quoted(selector)+").length")
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b.t, err)
	return value
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

// copied returns the texts to copy from the page, in order.
func (b *tab) copied() []string {
	b.t.Helper()
	list, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string]("[...document.querySelectorAll('.code pre')].map(e => e.textContent)"))
	require.NoError(b.t, err)
	return list
}

// connectLines returns the authorization URL of the page, and the lines that exchange a code, use
// the access token and refresh it.
func (b *tab) connectLines() []string {
	b.t.Helper()
	blocks := b.copied()
	require.Len(b.t, blocks, 8)
	return []string{blocks[0], blocks[2], blocks[6], blocks[7]}
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// toFill is a variable that the reader of copied lines sets.
var toFill = regexp.MustCompile(`(?m)^[A-Z_]+='paste [^']*'$`)

// pasted runs copied lines in a shell with variables, and reads the JSON that is returned.
func pasted(t testing.TB, lines string, environment ...string) map[string]any {
	t.Helper()
	c := exec.Command("sh", "-c", strings.Replace(toFill.ReplaceAllString(lines, ""), "curl ", "curl -sS ", 1))
	c.Env = append(os.Environ(), environment...)
	out, err := c.Output()
	require.NoError(t, err)
	var answer map[string]any
	require.NoError(t, json.Unmarshal(out, &answer), "%s", out)
	return answer
}

// logoFile writes a picture that is valid as a logo.
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
