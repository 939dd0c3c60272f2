// Package errcode has errors that keep their identity between processes: over the calls
// of nodes, and over the operators' socket.
package errcode

import "errors"

// An Error is a sentinel error with a code. errors.Is compares codes, so an error that
// came from another process is its sentinel.
type Error struct{ code, text string }

// New returns an error with a code, which never changes and no other error has.
func New(code, text string) *Error { return &Error{code, text} }

// Error implements error.
func (e *Error) Error() string { return e.text }

// Code returns the code.
func (e *Error) Code() string { return e.code }

// Is implements the interface of errors.Is.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.code == e.code
}

// Of returns the code of the first Error in the tree of an error, "" if there is none.
func Of(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.code
	}
	return ""
}

// WithText returns an error with a text of its own that is also e.
func (e *Error) WithText(text string) error { return &Error{e.code, text} }

// Restore returns the error that another process sent as a code and a text. Without a code
// it is a plain error.
func Restore(code, text string) error {
	if code == "" {
		return errors.New(text)
	}
	return &Error{code, text}
}
