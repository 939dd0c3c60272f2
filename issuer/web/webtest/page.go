package webtest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Probes are inputs that try to become more than text on a page.
var Probes = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`,
	`</title><script>alert(1)</script>`, `{{.Token}}`, `&lt;b&gt;`, `javascript:alert(1)`, `<!--`, `\u003cscript`,
}

// WithoutScript removes the element of the script of the pages.
func WithoutScript(body string) string {
	return regexp.MustCompile(`<script src="/assets/script-[0-9a-f]{16}\.js" defer></script>`).ReplaceAllString(body, "")
}

// CheckProbe verifies that a probe is escaped.
func CheckProbe(t *testing.T, page Answer, probe string) {
	t.Helper()
	assert.Equal(t, 1, strings.Count(page.Text, "</title>"))
	body := WithoutScript(page.Text)
	for _, s := range []string{"<script", "<img src=x", "onerror=alert(1)>", "' onmouseover='", "</title><", "<!--", `href="javascript:`} {
		assert.NotContains(t, body, s, "probe %q", probe)
	}
	assert.NotContains(t, page.Header.Get("Content-Security-Policy"), "alert")
}
