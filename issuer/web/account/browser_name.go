package account

import (
	"strings"
	"unicode"
)

// browserName returns a readable name for the browser that sent a User-Agent, such as
// "Firefox on Windows". It is what the sender claims.
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

// Marks are searched in this order, since most browsers also claim to be others.
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

// A mark is a part of a User-Agent and the name of the browser or system that sends it.
type mark struct{ text, name string }

func known(agent string, marks []mark) string {
	for _, m := range marks {
		if strings.Contains(agent, m.text) {
			return m.name
		}
	}
	return ""
}

// otherProgram returns the first product of a User-Agent (RFC 9110 §10.1.5), if there is one.
func otherProgram(agent string) string {
	product, _, _ := strings.Cut(agent, " ")
	product, _, _ = strings.Cut(product, "/")
	printable := func(r rune) bool { return r < unicode.MaxASCII && unicode.IsPrint(r) }
	if product == "" || len(product) > 40 || strings.ContainsFunc(product, func(r rune) bool { return !printable(r) }) {
		return "An unknown browser"
	}
	return product
}
