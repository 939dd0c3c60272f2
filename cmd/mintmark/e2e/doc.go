// Package e2e tests the built binary from outside: with third-party OAuth clients, token
// libraries and verifiers, in a real browser, and by the commands of README. It imports
// no package under test; the guarantees of a single package are tested beside that
// package.
//
// The folder verifiers has resource servers around third-party verifiers. Those in Go are
// a separate module.
//
// The tests need Node.js, Chromium, Java, HAProxy, nginx, Apache and the npm packages of
// clients/ and verifiers/; "make deps" installs them.
package e2e
