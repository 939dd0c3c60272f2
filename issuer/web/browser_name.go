package web

import (
	"strings"
	"unicode"
)

// browserName is how a page names the browser that sent a User-Agent: people know
// "Firefox on Windows", not "Mozilla/5.0 (…)". It is what the browser said of
// itself, which anybody can say.
func browserName(agent string) string {
	browser, system := known(agent, browsers), known(agent, systems)
	switch {
	case browser == "" && system == "":
		return otherProgram(agent)
	case browser == "":
		return "A browser on " + system
	case system == "":
		return browser
	}
	return browser + " on " + system
}

// Marks are looked for in this order: most browsers say that they are others, too.
var (
	browsers = []mark{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = []mark{
		{"Android", "Android"},
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Windows", "Windows"},
		{"CrOS", "ChromeOS"},
		{"Mac OS X", "macOS"},
		{"Linux", "Linux"},
	}
)

// A mark is a part of a User-Agent and what has it.
type mark struct{ text, name string }

func known(agent string, marks []mark) string {
	for _, m := range marks {
		if strings.Contains(agent, m.text) {
			return m.name
		}
	}
	return ""
}

// otherProgram is what a program calls itself: the first product (RFC 9110
// §10.1.5), if it is one.
func otherProgram(agent string) string {
	product, _, _ := strings.Cut(agent, " ")
	product, _, _ = strings.Cut(product, "/")
	printable := func(r rune) bool { return r < unicode.MaxASCII && unicode.IsPrint(r) }
	if product == "" || len(product) > 40 || strings.ContainsFunc(product, func(r rune) bool { return !printable(r) }) {
		return "An unknown browser"
	}
	return product
}
