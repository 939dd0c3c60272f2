// Package ui is what the pages look like: the shell with the navigation, the card of the
// pages for everybody, the components, the words for times and numbers, the stylesheet, the
// script and the icons.
//
// It has values, each with one template, and knows neither HTTP nor the ledger: the handlers
// make the values, except those whose texts stand in a template. A component is a type of
// this package with a template of the same name in templates/parts; testdata/specimen.html
// shows each of them in each of its states, and is where authors of pages copy from.
//
// Pages work without the script. No page has inline script or inline style, so that it works
// under a Content-Security-Policy that forbids both.
package ui
