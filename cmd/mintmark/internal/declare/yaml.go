package declare

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A yamlReader takes the value of one key; what names it in errors. Readers go
// by YAML's nodes and not by its own decoding, so that every text keeps its
// spelling (a secret may be 0012 or yes), unknown and repeated keys are errors
// with a line, and no error repeats a value.
type yamlReader func(what string, n *yaml.Node) error

// keyPattern is what a misspelt key looks like, and no secret should.
var keyPattern = regexp.MustCompile(`^[a-z_]{1,24}$`)

// eachKey reads a mapping that may have the known keys only. lines gets the line of each
// value, and of each member of a list, unless it is nil.
func eachKey(n *yaml.Node, what string, lines map[string]int, known map[string]yamlReader) error {
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
			if !keyPattern.MatchString(key.Value) || value.Kind == yaml.ScalarNode && value.Value == "" {
				// A comma in a value that is not quoted makes a key of its rest, which may be a
				// part of a secret.
				return fmt.Errorf("line %d: %s has an unknown key; quote a value that holds a comma or a colon", key.Line, what)
			}
			return fmt.Errorf("line %d: %s has the unknown key %q", key.Line, what, key.Value)
		case slices.Contains(seen, key.Value):
			return fmt.Errorf("line %d: %s has the key %q twice", key.Line, what, key.Value)
		}
		seen = append(seen, key.Value)
		if lines != nil {
			lines[key.Value] = value.Line
			for i, item := range yamlTarget(value).Content {
				lines[fmt.Sprintf("%s[%d]", key.Value, i)] = item.Line
			}
		}
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

// yamlValue reads a text that must be a value of another type.
func yamlValue[T any](into *T, parse func(string) (T, error), must string) yamlReader {
	return func(what string, n *yaml.Node) error {
		s, err := scalar(what, n)
		if err != nil {
			return err
		}
		v, err := parse(s)
		if err != nil {
			return fmt.Errorf("line %d: %s must be %s", n.Line, what, must)
		}
		*into = v
		return nil
	}
}

// yamlOne reads one text as a list of it.
func yamlOne(into *[]string) yamlReader {
	return func(what string, n *yaml.Node) error {
		s, err := scalar(what, n)
		*into = append(*into, s)
		return err
	}
}

func yamlBool(into *bool) yamlReader { return yamlValue(into, strconv.ParseBool, "true or false") }

func yamlNumber(into *int) yamlReader { return yamlValue(into, strconv.Atoi, "a number") }

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
