package webtest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestFaultsAreFound verifies that FaultsOf finds faults.
func TestFaultsAreFound(t *testing.T) {
	page := func(body string) string {
		return "<!DOCTYPE html>\n<html lang=\"en\"><head><title>x</title></head><body><main><h1>x</h1>" + body + "</main></body></html>"
	}
	assert.Empty(t, FaultsOf(page(`<p>fine &amp; dandy<br></p><label for="a">x</label><input id="a" required>`)))
	for body, want := range map[string]string{
		`<p><ul></ul></p>`:                   "ul is in p",
		`<div>`:                              "is not ended",
		`</div>`:                             "ends nothing",
		`<p id="a"></p><p id="a"></p>`:       "two elements",
		`<input name="x">`:                   "has no label",
		`<label for="x">y</label>`:           "not there",
		`<a href="#x">y</a>`:                 "not there",
		`<a href="/"></a>`:                   "says nothing",
		`<h3>deep</h3>`:                      "h3 comes after h1",
		`<h1>again</h1>`:                     "there are 2 of h1",
		`<a href="/"><button>x</button></a>`: "button is in a",
		`<img src="/x">`:                     "no alt",
		`<li>x</li>`:                         "li is in main",
		`<p class="a" class="b"></p>`:        "twice",
	} {
		assert.Contains(t, strings.Join(FaultsOf(page(body)), "\n"), want, body)
	}
}
