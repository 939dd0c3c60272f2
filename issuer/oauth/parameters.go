package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"
)

// maxParameters bounds the work one request can cause; the longest request
// of this protocol has nine.
const maxParameters = 100

var (
	errRepeated = errors.New("repeated")
	errSyntax   = errors.New("syntax")
	errNotText  = errors.New("not a string")
)

// parameters reads name and value pairs into the fields of one request. A
// name that no field claims is ignored, and no name may come twice (RFC 6749
// §3.1, §3.2). An empty value counts as absent (RFC 6749 §3.1).
type parameters struct {
	field func(name string) *string // where the value of name belongs; nil where it is unknown
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

// form reads application/x-www-form-urlencoded text, a body or a query.
// A repeated name does not end the reading: repeated is told which it was,
// and the first value stands.
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

// object reads one JSON object. Unknown members may hold anything, known
// ones hold text; null counts as absent, as an empty value does in a form.
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
		name := t.(string) // a member's name is always a string
		if err := p.markSeen(name); err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return errSyntax
		}
		if f := p.field(name); f != nil && json.Unmarshal(value, f) != nil { // null changes nothing
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
