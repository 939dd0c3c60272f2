// Package e2e tests the built binary from outside, as its users meet it: with
// OAuth clients, token libraries and verifiers that nobody here wrote, in a real
// browser, and by the commands of the documents. It has no code of its own and imports
// the kit of the tests only, so that nothing but the binary can make a test pass. What
// a single package promises is tested beside that package. One file is an exception: agents
// publish documents on public addresses, so agents_test.go starts the same program with another
// fetcher.
//
// The folder clients has programs on client libraries, and verifiers has resource servers
// around third-party verifiers. Those in Go are modules of their own.
//
// The tests need Node.js, Python, Chromium, Java, HAProxy, nginx, Apache and the npm packages of
// clients/ and verifiers/; "make deps" installs them.
package e2e
