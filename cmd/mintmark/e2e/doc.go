// Package e2e tests the built binary from outside, as its users meet it: with
// OAuth clients, token libraries and verifiers that nobody here wrote, in a real
// browser, and by the commands of README. It has no code of its own and imports
// none of this module, so that nothing but the binary can make a test pass. What
// a single package promises is tested beside that package.
//
// The folder verifiers has resource servers around verifiers of others. Those in
// Go are a module of their own.
//
// The tests need Node.js, Chromium, Java, HAProxy, nginx, Apache and the npm packages
// that clients/ and verifiers/ name; "make deps" installs them.
package e2e
