package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// maxImportLine is the longest line of an import, in bytes.
const maxImportLine = 64 << 10

// A lineError is a line that can't be read as a client. It never repeats a
// value of the line.
type lineError struct{ text string }

func (e *lineError) Error() string { return e.text }

func badLine(format string, args ...any) error { return &lineError{fmt.Sprintf(format, args...)} }

// A lineReader returns lines without their ends and without surrounding space.
type lineReader struct {
	r      *bufio.Reader // its size is the longest line
	number int           // of the line that next returned, from 1
	done   bool
}

// next returns io.EOF after the last line, and a lineError for a line that is
// too long; reading goes on behind it.
func (l *lineReader) next() ([]byte, error) {
	if l.done {
		return nil, io.EOF
	}
	l.number++
	line, err := l.r.ReadSlice('\n')
	tooLong := errors.Is(err, bufio.ErrBufferFull)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
	}
	l.done = err == io.EOF
	switch {
	case err != nil && err != io.EOF:
		return nil, fmt.Errorf("read: %w", err)
	case tooLong:
		return nil, badLine("is longer than %d bytes", maxImportLine)
	}
	if l.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimSpace(line), nil
}

// parseLegacyClient reads one line of an import. It is strict, since a name
// that is misspelt or given twice could leave a client without what its
// operator meant. What it read before an error is returned with it.
func parseLegacyClient(line []byte) (admin.LegacyClient, error) {
	c := admin.LegacyClient{Type: "confidential"}
	if !utf8.Valid(line) {
		return c, badLine("is not UTF-8")
	}
	members, err := jsonMembers(line)
	if err != nil {
		return c, err
	}
	for _, m := range members {
		if err := m.into(&c); err != nil {
			return c, err
		}
	}
	if c.ID == "" {
		return c, badLine("id is missing")
	}
	return c, nil
}

// A jsonMember is one member of a JSON object.
type jsonMember struct {
	name  string
	value json.RawMessage
}

func jsonMembers(line []byte) ([]jsonMember, error) {
	notJSON := badLine("is not one JSON object")
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, notJSON
	}
	var all []jsonMember
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, notJSON
		}
		if seen[name] {
			return nil, badLine("%s is there twice", nameOf(name))
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, notJSON
		}
		if string(value) != "null" {
			all = append(all, jsonMember{name, value})
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, notJSON
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, notJSON
	}
	return all, nil
}

// nameOf shows a member's name, which may hold anything.
func nameOf(name string) string {
	if len(name) > 40 {
		return "a member with a long name"
	}
	return fmt.Sprintf("%q", name)
}

func (m jsonMember) into(c *admin.LegacyClient) error {
	switch m.name {
	case "id":
		return m.text(&c.ID)
	case "name":
		return m.text(&c.Name)
	case "type":
		return m.text(&c.Type)
	case "owner":
		return m.text(&c.Owner)
	case "purpose":
		return m.text(&c.Purpose)
	case "website":
		return m.text(&c.Website)
	case "privacy_url":
		return m.text(&c.PrivacyURL)
	case "terms_url":
		return m.text(&c.TermsURL)
	case "redirect_uris":
		return m.list(&c.RedirectURIs)
	case "secret":
		return m.secret(&c.Secrets)
	case "secrets":
		return m.secrets(&c.Secrets)
	case "secret_sha256":
		return m.secret(&c.SecretsSHA256)
	case "secrets_sha256":
		return m.secrets(&c.SecretsSHA256)
	case "secret_hash":
		return m.secret(&c.SecretHashes)
	case "secret_hashes":
		return m.secrets(&c.SecretHashes)
	}
	return badLine("%s is not known", nameOf(m.name))
}

// text refuses what package json would quietly replace: a secret would become
// another one.
func (m jsonMember) text(into *string) error {
	if m.value[0] != '"' || json.Unmarshal(m.value, into) != nil {
		return badLine("%s is not a string", m.name)
	}
	if strings.ContainsRune(*into, utf8.RuneError) {
		return badLine("%s holds a character that is not Unicode", m.name)
	}
	return nil
}

func (m jsonMember) list(into *[]string) error {
	var values []json.RawMessage
	if json.Unmarshal(m.value, &values) != nil {
		return badLine("%s is not a list", m.name)
	}
	for i, v := range values {
		var s string
		if err := (jsonMember{fmt.Sprintf("%s[%d]", m.name, i), v}).text(&s); err != nil {
			return err
		}
		*into = append(*into, s)
	}
	return nil
}

func (m jsonMember) secret(into *[]admin.Plain) error {
	var s string
	if err := m.text(&s); err != nil {
		return err
	}
	*into = append(*into, admin.Plain(s))
	return nil
}

func (m jsonMember) secrets(into *[]admin.Plain) error {
	var list []string
	if err := m.list(&list); err != nil {
		return err
	}
	for _, s := range list {
		*into = append(*into, admin.Plain(s))
	}
	return nil
}
