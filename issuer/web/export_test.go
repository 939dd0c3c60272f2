package web

// Carried and the others let the tests see what has no page of its own.
var (
	Carried   = carried
	FormToken = formToken
)

type Purpose = purpose
