// Package webtest is the kit of the pages' tests: an Env is a service with a real ledger, clients
// and users, and a Browser requests its pages, stores cookies and checks every page that it gets.
//
// The tests of an area import it with a dot, so that a test reads as what a user does.
package webtest
