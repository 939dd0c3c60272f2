package clientdoc

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// MaxDocument is the maximum size of a document, in bytes (draft §6.6).
const MaxDocument = 5 << 10

// A Document is the part of a valid document that this service uses. Members that it does
// not offer are left out, not refused: grant types, response types, and authentication
// methods other than none. Its logo_uri is never fetched.
type Document struct {
	ClientID     string   // the URL
	Name         string   // client_name; the caller checks whether it may be displayed
	Website      string   // client_uri, "" if it is absent or has another host
	RedirectURIs []string // of the document's host, or of the loopback
	Digest       [32]byte // SHA-256 of the document as it was sent
}

// parse returns the document with a client_id that oauth.CheckDocumentURL accepts.
func parse(body []byte, clientID string) (Document, *Error) {
	d := Document{ClientID: clientID, Digest: sha256.Sum256(body)}
	if len(body) > MaxDocument {
		return d, &Error{Reason: TooLong}
	}
	members, ok := object(body)
	if !ok {
		return d, &Error{Reason: NotJSON}
	}
	var id, method string
	var methods []string
	if !member(members, "client_id", &id) || !member(members, "client_name", &d.Name) ||
		!member(members, "client_uri", &d.Website) || !member(members, "redirect_uris", &d.RedirectURIs) ||
		!member(members, "token_endpoint_auth_method", &method) ||
		!member(members, "token_endpoint_auth_methods_supported", &methods) {
		return d, &Error{Reason: NotJSON}
	}
	if method != "" {
		methods = append(methods, method)
	}
	switch {
	case id != clientID:
		return d, &Error{Reason: OtherClientID}
	case members["client_secret"] != nil || members["client_secret_expires_at"] != nil: // draft §4.1
		return d, &Error{Reason: HasSecret}
	case len(methods) > 0 && !slices.Contains(methods, "none"):
		return d, &Error{Reason: MethodNotOffered}
	case d.Name == "":
		return d, &Error{Reason: NameMissing}
	case len(d.RedirectURIs) == 0:
		return d, &Error{Reason: RedirectURIsMissing}
	}
	host := oauth.DocumentHost(clientID)
	for _, uri := range d.RedirectURIs {
		if oauth.CheckDocumentRedirectURI(uri, host) != "" {
			return d, &Error{Reason: RedirectURIRefused}
		}
	}
	slices.Sort(d.RedirectURIs)
	d.RedirectURIs = slices.Compact(d.RedirectURIs)
	if u, err := url.Parse(d.Website); err != nil || u.Scheme != "https" || u.Host != host {
		d.Website = ""
	}
	return d, nil
}

// object returns the members of a JSON object. It refuses repeated names, also in objects
// within it, since readers differ in which of them they take (RFC 8259 §4), and text that is
// not UTF-8.
func object(body []byte) (map[string]json.RawMessage, bool) {
	if !utf8.Valid(body) || !unique(json.NewDecoder(bytes.NewReader(body))) {
		return nil, false
	}
	// Names are compared exactly: decoding to a struct would ignore their case.
	var members map[string]json.RawMessage
	return members, json.Unmarshal(body, &members) == nil && members != nil
}

// unique reads one JSON text to its end and reports whether it is valid and no object in it
// has a name twice.
func unique(d *json.Decoder) bool {
	type level struct {
		names map[string]bool // nil in an array
		value bool            // the next token in the object is a value
	}
	var levels []level
	for {
		t, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF) && len(levels) == 0
		}
		top := len(levels) - 1
		if name, ok := t.(string); ok && top >= 0 && levels[top].names != nil && !levels[top].value {
			if levels[top].names[name] {
				return false
			}
			levels[top].names[name], levels[top].value = true, true
			continue
		}
		if top >= 0 && t != json.Delim('}') {
			levels[top].value = false
		}
		switch t {
		case json.Delim('{'):
			levels = append(levels, level{names: map[string]bool{}})
		case json.Delim('['):
			levels = append(levels, level{})
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:top]
		}
	}
}

// member decodes a member to a string or a list of strings, and leaves it if it is absent or
// null. It reports whether the member has the right type.
func member[T string | []string](members map[string]json.RawMessage, name string, to *T) bool {
	raw, ok := members[name]
	if !ok {
		return true
	}
	return json.Unmarshal(raw, to) == nil
}
