package webtest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// MaxPage is the maximum size of a page, in bytes.
const MaxPage = 20 << 10

// checkPage verifies what is true of every page. The tests' browser calls it for each.
func checkPage(t testing.TB, page Answer) {
	t.Helper()
	for _, fault := range FaultsOf(page.Text) {
		assert.Fail(t, "invalid page: "+fault, "%s", page.Text)
	}
	if !strings.Contains(page.Text, ">Submit again</button>") { // such a page shows all input: see maxRedisplay
		assert.Less(t, len(page.Text), MaxPage)
	}
	policy := "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'"
	switch {
	case strings.Contains(page.Text, `<body class="app"`):
		policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
		assert.Equal(t, 1, strings.Count(page.Text, "<script "))
	case !strings.Contains(page.Text, `value="allow"`): // see TestFormAction
		policy += "; form-action 'self'"
		fallthrough
	default:
		assert.NotContains(t, page.Text, "<script ")
	}
	assert.Equal(t, policy, page.Header.Get("Content-Security-Policy"))
	if cache := page.Header.Get("Cache-Control"); cache == "private, no-cache" { // see TestGoingBack
		assert.Regexp(t, `<form method="post" action="/(developer/(new|clients/[^/"]*/edit)|admin/(new-resource-server|resource-servers/[^/"]*/edit))"`, page.Text)
		assert.Regexp(t, `class="callout bad" role="alert"|id="preview"|id="removed"`, page.Text)
		assert.NotContains(t, page.Text, `type="password"`)
	} else {
		assert.Equal(t, "no-store", cache)
	}
	assert.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
}

// An element is an element of a page, with its parent.
type element struct {
	name   string
	attrs  map[string]string
	parent *element
	text   strings.Builder // of the element and its descendants
}

func (e *element) inside(names ...string) bool {
	for p := e.parent; p != nil; p = p.parent {
		if slices.Contains(names, p.name) {
			return true
		}
	}
	return false
}

// fullText returns the accessible name.
func (e *element) fullText() string {
	if label := e.attrs["aria-label"]; label != "" {
		return label
	}
	return strings.TrimSpace(e.text.String())
}

var (
	void     = strings.Fields("br hr img input link meta wbr")
	blocks   = strings.Fields("address article aside blockquote details dialog div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul")
	controls = strings.Fields("a button input select textarea summary")
)

// elements returns the elements of a page in order, and faults of the text itself: every
// element must have an end tag, even where HTML permits omitting it.
func elements(text string) (list []*element, faults []string) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.Entity = false, xml.HTMLEntity
	var open *element
	for {
		token, err := d.RawToken()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				faults = append(faults, err.Error())
			}
			break
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}, parent: open}
			for _, a := range token.Attr {
				if _, twice := e.attrs[a.Name.Local]; twice {
					faults = append(faults, e.name+" has "+a.Name.Local+" twice")
				}
				e.attrs[a.Name.Local] = a.Value
			}
			list = append(list, e)
			for above := open; above != nil; above = above.parent {
				above.text.WriteString(e.attrs["aria-label"])
			}
			if !slices.Contains(void, e.name) {
				open = e
			}
		case xml.EndElement:
			switch {
			case open == nil || open.name != token.Name.Local:
				faults = append(faults, "</"+token.Name.Local+"> ends nothing")
			default:
				open = open.parent
			}
		case xml.CharData:
			for e := open; e != nil; e = e.parent {
				e.text.Write(token)
			}
		}
	}
	if open != nil {
		faults = append(faults, open.name+" is not ended")
	}
	return list, faults
}

// FaultsOf returns errors of HTML and of accessibility. A complete validator checks the
// pages in cmd/mintmark/e2e.
func FaultsOf(text string) []string {
	list, faults := elements(text)
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if !strings.HasPrefix(text, "<!DOCTYPE html>\n<html lang=\"en\"") {
		fault("it does not begin as a page does")
	}
	ids, labelled, count, level := map[string]bool{}, map[string]bool{}, map[string]int{}, 0
	for _, e := range list {
		count[e.name]++
		if id := e.attrs["id"]; id != "" {
			if ids[id] {
				fault("two elements are %q", id)
			}
			ids[id] = true
		}
		if e.name == "label" {
			labelled[e.attrs["for"]] = true
		}
		if match := regexp.MustCompile(`^h([1-6])$`).FindStringSubmatch(e.name); match != nil {
			now := int(match[1][0] - '0')
			if now > level+1 {
				fault("h%d comes after h%d", now, level)
			}
			level = now
			if e.fullText() == "" {
				fault("a heading is empty")
			}
		}
	}
	for _, name := range []string{"html", "head", "title", "body", "main", "h1"} {
		if count[name] != 1 {
			fault("there are %d of %s", count[name], name)
		}
	}
	for _, e := range list {
		parent := ""
		if e.parent != nil {
			parent = e.parent.name
		}
		switch e.name {
		case "img":
			if _, has := e.attrs["alt"]; !has {
				fault("an image has no alt")
			}
		case "input", "textarea", "select":
			_, unseen := e.attrs["hidden"]
			if e.attrs["type"] != "hidden" && !unseen && !labelled[e.attrs["id"]] && !e.inside("label") && e.attrs["aria-label"] == "" {
				fault("%s %q has no label", e.name, e.attrs["name"])
			}
		case "a", "button", "summary", "label", "legend", "caption", "th", "title":
			if e.fullText() == "" {
				fault("%s says nothing", e.name)
			}
		case "nav", "table":
			if e.attrs["aria-label"] == "" && e.name == "nav" {
				fault("a navigation has no name")
			}
		case "form":
			if e.attrs["action"] == "" {
				fault("a form goes nowhere")
			}
		case "li":
			if parent != "ul" && parent != "ol" {
				fault("li is in %s", parent)
			}
		case "dt", "dd":
			if parent != "dl" && parent != "div" {
				fault("%s is in %s", e.name, parent)
			}
		}
		if (parent == "ul" || parent == "ol") && e.name != "li" {
			fault("%s is in %s", e.name, parent)
		}
		if slices.Contains(blocks, e.name) && e.inside("p", "button", "span", "h1", "h2", "h3", "label") {
			fault("%s is in %s", e.name, parent)
		}
		if slices.Contains(controls, e.name) && e.inside("a", "button") || e.name == "form" && e.inside("form") {
			fault("%s is in %s", e.name, parent)
		}
		for _, name := range []string{"for", "aria-describedby", "aria-labelledby"} {
			for id := range strings.FieldsSeq(e.attrs[name]) {
				if !ids[id] {
					fault("%s of %s names %q, which is not there", name, e.name, id)
				}
			}
		}
		if id, here := strings.CutPrefix(e.attrs["href"], "#"); here && !ids[id] {
			fault("a link leads to %q, which is not there", id)
		}
	}
	return faults
}
