// Package ui is what the pages look like: the shell with the navigation, the card of the
// pages for everybody, the components, the words for times and numbers, the stylesheet, the
// script and the icons.
//
// A component is a type of this package with a template of the same name in templates/parts.
// Handlers make its values; if a value has only fixed texts, the page's template makes it.
// testdata/specimen.html shows each component in each of its states: copy from there. The
// package knows neither HTTP nor the ledger.
//
// Pages work without the script. No page has inline script or inline style, so that it works
// under a Content-Security-Policy that forbids both.
package ui
