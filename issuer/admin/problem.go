package admin

import (
	"errors"
	"net/http"
	"strings"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A Class classifies problems by what the caller can do about them.
type Class string

// Classes of problems.
const (
	Refused     Class = "refused"     // a rule forbids the operation
	NotFound    Class = "not_found"   // the named object does not exist
	Unavailable Class = "unavailable" // nothing can be decided now; the operation can be retried
	BadRequest  Class = "bad_request" // client and server are incompatible
	Internal    Class = "internal"    // an internal error, which the server has logged

	// Only operators on other machines get these.
	Unauthenticated Class = "unauthenticated" // the token or certificate is missing or not valid
	Forbidden       Class = "forbidden"       // the token or certificate may not be used for the operation, or for a page of another origin
)

var httpStatus = map[Class]int{
	Refused:     http.StatusUnprocessableEntity,
	NotFound:    http.StatusNotFound,
	Unavailable: http.StatusServiceUnavailable,
	BadRequest:  http.StatusBadRequest,
	Internal:    http.StatusInternalServerError,

	Unauthenticated: http.StatusUnauthorized,
	Forbidden:       http.StatusForbidden,
}

// A Problem reports an operation that was not done. It never contains a secret.
type Problem struct {
	Class   Class        `json:"class"`
	Code    string       `json:"code,omitempty"`    // of the error; see package errcode
	Subject string       `json:"subject,omitempty"` // the object concerned, such as "client cal-app"
	Cause   ledger.Cause `json:"cause,omitempty"`
	Text    string       `json:"text"`
	Field   string       `json:"field,omitempty"` // of the request
	Note    string       `json:"note,omitempty"`  // what is wrong with the field, or another fact
}

// Error returns one line for operators.
func (p *Problem) Error() string {
	var b strings.Builder
	if p.Subject != "" {
		b.WriteString(p.Subject + ": ")
	}
	switch {
	case p.Field != "" && p.Note != "":
		b.WriteString(p.Field + " " + p.Note)
	case p.Field != "":
		b.WriteString(p.Field + ": " + p.Text)
	case p.Note != "":
		b.WriteString(p.Text + " (" + p.Note + ")")
	default:
		b.WriteString(p.Text)
	}
	return b.String()
}

// Unwrap returns the error that the server had, if it has a code.
func (p *Problem) Unwrap() error {
	if p.Code == "" {
		return nil
	}
	return errcode.Restore(p.Code, p.Text)
}

// ofError returns a problem with the code and the text of an error.
func ofError(class Class, err error) *Problem {
	return &Problem{Class: class, Code: errcode.Of(err), Text: err.Error()}
}

func refusal(subject string, r *ledger.Refusal) *Problem {
	p := &Problem{Class: Refused, Subject: subject, Cause: r.Cause, Text: r.Cause.String(), Field: r.Field, Note: r.Note}
	switch r.Cause {
	case ledger.NotFound:
		p.Class = NotFound
	case ledger.KeyNotRecorded: // of a new secret: this node's keyring lags for a moment
		p.Class, p.Text = Unavailable, "the active credential key has just changed, and nothing was changed"
	}
	return p
}

func notFound(subject string) *Problem {
	return refusal(subject, &ledger.Refusal{Cause: ledger.NotFound})
}

func badField(subject, field, note string) *Problem {
	return refusal(subject, &ledger.Refusal{Cause: ledger.BadField, Field: field, Note: note})
}

// codedField is badField with the code of a rule, by which callers recognize the refusal.
func codedField(subject, field, note string, rule *errcode.Error) *Problem {
	p := badField(subject, field, note)
	p.Code = rule.Code()
	return p
}

// problem converts any error. An error that is neither a Problem nor otherwise known is
// internal: its text is only logged.
func problem(err error) *Problem {
	var p *Problem
	var later interface {
		error
		Later() string
	}
	var rule interface {
		error
		Refusal() string
	}
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &rule):
		return &Problem{Class: Refused, Code: errcode.Of(err), Text: rule.Refusal()}
	case errors.As(err, &later):
		return &Problem{Class: Unavailable, Code: errcode.Of(err), Text: later.Later()}
	case errors.Is(err, oauth.ErrOutcomeUnknown):
		return ofError(Unavailable, ErrOutcomeUnknown)
	case errors.Is(err, oauth.ErrUnavailable):
		return ofError(Unavailable, ErrNoLeader)
	}
	return ofError(Internal, ErrInternal)
}
