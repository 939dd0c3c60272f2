package dev

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// A yamlReader takes the value of one key; what names it in errors. Readers go
// by YAML's nodes and not by its own decoding, so that every text keeps its
// spelling (a secret may be 0012 or yes), unknown and repeated keys are errors
// with a line, and no error repeats a value.
type yamlReader func(what string, n *yaml.Node) error

// keyPattern is what a misspelt key looks like, and no secret should.
var keyPattern = regexp.MustCompile(`^[a-z_]{1,24}$`)

// eachKey reads a mapping that may have the known keys only.
func eachKey(n *yaml.Node, what string, known map[string]yamlReader) error {
	n = yamlTarget(n)
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: %s must be a mapping of keys to values", n.Line, what)
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := known[key.Value]
		switch {
		case !ok || key.Kind != yaml.ScalarNode:
			if !keyPattern.MatchString(key.Value) {
				// A comma in a value that is not quoted makes a key of its rest.
				return fmt.Errorf("line %d: %s has an unknown key; quote a value that holds a comma or a colon", key.Line, what)
			}
			return fmt.Errorf("line %d: %s has the unknown key %q", key.Line, what, key.Value)
		case slices.Contains(seen, key.Value):
			return fmt.Errorf("line %d: %s has the key %q twice", key.Line, what, key.Value)
		}
		seen = append(seen, key.Value)
		if err := read(what+": "+key.Value, value); err != nil {
			return err
		}
	}
	return nil
}

// eachItem reads a list; one that is empty may be left blank.
func eachItem(what string, n *yaml.Node, read yamlReader) error {
	n = yamlTarget(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: %s must be a list", n.Line, what)
	}
	for i, item := range n.Content {
		if err := read(fmt.Sprintf("%s[%d]", what, i), item); err != nil {
			return err
		}
	}
	return nil
}

// yamlTarget is what an alias stands for. Aliases can't nest without end here:
// how deep a file may go is fixed by what is read.
func yamlTarget(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// scalar is a text as it was spelt; a value that is left blank is empty.
func scalar(what string, n *yaml.Node) (string, error) {
	if n = yamlTarget(n); n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("line %d: %s must be a text", n.Line, what)
	}
	return n.Value, nil
}

// entryName is how errors call an entry before it has been read: by the first
// of these keys that has a text.
func entryName(n *yaml.Node, kind string, names ...string) string {
	n = yamlTarget(n)
	for _, name := range names {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if v := yamlTarget(n.Content[i+1]); n.Content[i].Value == name && v.Kind == yaml.ScalarNode && v.Value != "" {
				return kind + " " + v.Value
			}
		}
	}
	return "a " + kind
}

func yamlText[T ~string](into *T) yamlReader {
	return func(what string, n *yaml.Node) error {
		s, err := scalar(what, n)
		*into = T(s)
		return err
	}
}

func yamlTexts[T ~string](into *[]T) yamlReader {
	return func(what string, n *yaml.Node) error {
		return eachItem(what, n, func(what string, item *yaml.Node) error {
			s, err := scalar(what, item)
			*into = append(*into, T(s))
			return err
		})
	}
}

// yamlOption reads a value that a nil pointer stands for the absence of.
func yamlOption[T any](into **T, parse func(string) (T, error), must string) yamlReader {
	return func(what string, n *yaml.Node) error {
		s, err := scalar(what, n)
		if err != nil {
			return err
		}
		v, err := parse(s)
		if err != nil {
			return fmt.Errorf("line %d: %s must be %s", n.Line, what, must)
		}
		*into = &v
		return nil
	}
}

func yamlDuration(into **time.Duration) yamlReader {
	return yamlOption(into, admin.ParseDuration, "a duration such as 60s, 720h or 30d")
}

func yamlOptionalText(into **string) yamlReader {
	return yamlOption(into, func(s string) (string, error) { return s, nil }, "a text")
}

func yamlBool(into *bool) yamlReader {
	return func(what string, n *yaml.Node) error {
		var v *bool
		err := yamlOption(&v, strconv.ParseBool, "true or false")(what, n)
		declare(into, v)
		return err
	}
}

func yamlNumber(into *int) yamlReader {
	return func(what string, n *yaml.Node) error {
		var v *int
		err := yamlOption(&v, strconv.Atoi, "a number")(what, n)
		declare(into, v)
		return err
	}
}
