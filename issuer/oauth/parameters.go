package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/url"
	"strings"
)

// maxParameters bounds the work for one request. The longest valid request has nine
// parameters.
const maxParameters = 100

// nameResource is the only parameter that the RFCs permit several times (RFC 8707 §2). Here a
// token is for one resource server, so a second one is refused, as a target.
const nameResource = "resource"

// repeated returns the error of a parameter that came more than once.
func repeated(name string) *Error {
	if name == nameResource {
		return &Error{Code: InvalidTarget, Description: "A token is for one resource."}
	}
	return invalidRequest("A parameter came more than once.")
}

var (
	errRepeated = errors.New("repeated")
	errSyntax   = errors.New("syntax")
	errNotText  = errors.New("not a string")
)

// readBody stores the parameters of a body, a form or JSON, where field returns for each name.
func readBody(contentType string, body []byte, field func(name string) *string) *Error {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return invalidRequest("The body must be application/x-www-form-urlencoded or application/json.")
	}
	p := parameters{field: field}
	var twice string
	switch media {
	case "application/x-www-form-urlencoded":
		err = p.form(string(body), func(name string) error {
			if field(name) != nil {
				twice = name
			}
			return errRepeated
		})
	case "application/json":
		err = p.object(body)
	default:
		return invalidRequest("The body must be application/x-www-form-urlencoded or application/json.")
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errRepeated):
		return repeated(twice)
	case errors.Is(err, errNotText):
		return invalidRequest("A parameter of the JSON object is not a string.")
	}
	return invalidRequest("The body can not be read as its Content-Type says.")
}

// parameters stores name and value pairs in the fields of one request. It ignores unknown
// names and refuses repeated ones (RFC 6749 §3.1, §3.2). An empty value is treated as absent
// (RFC 6749 §3.1).
type parameters struct {
	field func(name string) *string // returns where to store the value of name, nil if name is unknown
	seen  map[string]struct{}
}

func (p *parameters) markSeen(name string) error {
	if p.seen == nil {
		p.seen = make(map[string]struct{}, 8)
	}
	if _, again := p.seen[name]; again {
		return errRepeated
	}
	if len(p.seen) == maxParameters {
		return errSyntax
	}
	p.seen[name] = struct{}{}
	return nil
}

// form parses application/x-www-form-urlencoded text, a body or a query. For a repeated
// name it calls repeated; if that returns nil, parsing continues and the first value stays.
func (p *parameters) form(text string, repeated func(name string) error) error {
	for pair := range strings.SplitSeq(text, "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			return errSyntax
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			return errSyntax
		}
		switch err := p.markSeen(name); err {
		case nil:
			if f := p.field(name); f != nil {
				*f = value
			}
		case errRepeated:
			if err := repeated(name); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return nil
}

// object parses one JSON object. Unknown members may have any value; known members must be
// strings. null is treated as absent, like an empty value in a form.
func (p *parameters) object(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, _ := d.Token(); t != json.Delim('{') {
		return errSyntax
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return errSyntax
		}
		name := t.(string) // the decoder returns member names as strings only
		if err := p.markSeen(name); err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return errSyntax
		}
		if f := p.field(name); f != nil && json.Unmarshal(value, f) != nil { // null leaves the field empty
			return errNotText
		}
	}
	if _, err := d.Token(); err != nil {
		return errSyntax
	}
	if _, err := d.Token(); err != io.EOF {
		return errSyntax
	}
	return nil
}
