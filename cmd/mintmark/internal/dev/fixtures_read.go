package dev

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// readFixtures reads the form of a file: which keys there are and what kind
// of value each has. Its errors name a line and never repeat a value.
func readFixtures(name string, text []byte) (*fixtures, error) {
	f := &fixtures{file: name}
	root, err := readYAML(text)
	if root == nil || err != nil {
		return f, err
	}
	err = eachKey(root, "the file", map[string]yamlReader{
		"users": func(_ string, n *yaml.Node) error {
			return eachItem("users", n, func(_ string, item *yaml.Node) error {
				u, err := readUser(item)
				f.users = append(f.users, u)
				return err
			})
		},
		"clients": func(_ string, n *yaml.Node) error {
			return eachItem("clients", n, func(_ string, item *yaml.Node) error {
				c, err := readClient(item)
				f.clients = append(f.clients, c)
				return err
			})
		},
		"settings": func(_ string, n *yaml.Node) error { return readSettings(n, &f.declared) },
	})
	return f, err
}

// readYAML returns the one value of a file, nil where there is none.
func readYAML(text []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, notYAML(err)
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("line %d: a second YAML document begins", max(more.Line, 1))
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	return root, nil
}

// notYAML passes on what the parser says, unless it may repeat a value: an
// unquoted password that begins with * is the name of an anchor to it.
func notYAML(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.Contains(text, "anchor") || strings.Contains(text, "tag") {
		return errors.New("is not valid YAML: a value that begins with & or * or ! must be quoted")
	}
	return errors.New(text)
}

func readUser(n *yaml.Node) (userFixture, error) {
	var u userFixture
	label := entryName(n, "user", "username", "id")
	err := eachKey(n, label, map[string]yamlReader{
		"id":                  yamlText(&u.ID),
		"username":            yamlText(&u.Username),
		"email":               yamlText(&u.Person.Email),
		"name":                yamlText(&u.Person.Name),
		"password":            yamlText(&u.Password),
		"time_zone":           yamlText(&u.Person.TimeZone),
		"admin":               yamlBool(&u.Admin),
		"bio":                 yamlText(&u.Person.Bio),
		"avatar_url":          yamlText(&u.Person.AvatarURL),
		"time_format":         yamlNumber(&u.Person.TimeFormat),
		"default_schedule_id": yamlText(&u.Person.DefaultScheduleID),
		"week_start":          yamlText(&u.Person.WeekStart),
		"locale":              yamlText(&u.Person.Locale),
		"organization_id":     yamlText(&u.Person.OrganizationID),
	})
	if err == nil && u.Username == "" {
		err = fmt.Errorf("line %d: %s: username is missing", n.Line, label)
	}
	if u.ID == "" {
		u.ID = "u-" + strings.ToLower(u.Username)
	}
	return u, err
}

func readClient(n *yaml.Node) (clientFixture, error) {
	c := clientFixture{Type: string(ledger.Confidential), State: string(ledger.Approved)}
	label := entryName(n, "client", "id", "name")
	err := eachKey(n, label, map[string]yamlReader{
		"id":              yamlText(&c.ID),
		"name":            yamlText(&c.Name),
		"purpose":         yamlText(&c.Purpose),
		"website":         yamlText(&c.Website),
		"owner":           yamlText(&c.Owner),
		"type":            yamlText(&c.Type),
		"redirect_uris":   yamlTexts(&c.RedirectURIs),
		"scopes":          yamlTexts(&c.Scopes),
		"secrets":         yamlTexts(&c.Secrets),
		"revoked_secrets": yamlTexts(&c.Revoked),
		"state":           yamlText(&c.State),
		"legacy":          yamlBool(&c.Legacy),
	})
	if err != nil {
		return c, err
	}
	for _, f := range []struct{ name, value string }{{"name", c.Name}, {"owner", c.Owner}} {
		if f.value == "" {
			return c, fmt.Errorf("line %d: %s: %s is missing", n.Line, label, f.name)
		}
	}
	for i, s := range c.Secrets {
		if s == "" {
			return c, fmt.Errorf("line %d: %s: secrets[%d] is empty", n.Line, label, i)
		}
	}
	for i, s := range c.Revoked {
		if s == "" {
			return c, fmt.Errorf("line %d: %s: revoked_secrets[%d] is empty", n.Line, label, i)
		}
	}
	for i, s := range c.Scopes {
		if !scope.Known(s) {
			return c, fmt.Errorf("line %d: %s: scopes[%d] is no scope: %q", n.Line, label, i, s)
		}
	}
	if c.ID == "" {
		c.ID = slug(c.Name)
	}
	return c, nil
}

// slug makes an id of a name: the same one each time, so that a second start
// finds the client again.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if len(words) == 0 { // a name in letters that no id can have
		sum := sha256.Sum256([]byte(name))
		return "client-" + hex.EncodeToString(sum[:6])
	}
	return strings.Join(words, "-")
}

func readSettings(n *yaml.Node, s *settingsFixture) error {
	return eachKey(n, "settings", map[string]yamlReader{
		"retry_window":        yamlDuration(&s.retryWindow),
		"retry_window_public": yamlDuration(&s.retryWindowPublic),
		"code_lifetime":       yamlDuration(&s.codeLifetime),
		"refresh_idle":        yamlDuration(&s.refreshIdle),
		"grant_absolute":      yamlDuration(&s.grantAbsolute),
		"session_idle":        yamlDuration(&s.sessionIdle),
		"session_absolute":    yamlDuration(&s.sessionAbsolute),
		"jwks_max_age":        yamlDuration(&s.jwksMaxAge),
		"algorithm":           yamlOptionalText(&s.algorithm),
		"audience":            yamlOptionalText(&s.audience),
	})
}
