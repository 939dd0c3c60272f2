package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	yamlv3 "go.yaml.in/yaml/v3"
)

// maxFile is the longest file of settings, in bytes.
const maxFile = 64 << 10

// fileLayer reads a YAML file with these keys.
func fileLayer(path string, keys []string) (layer, error) {
	f, err := os.Open(path)
	if err != nil {
		return layer{}, fmt.Errorf("open settings file: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return layer{}, fmt.Errorf("read settings file: %w", err)
	}
	if len(text) > maxFile {
		return layer{}, fmt.Errorf("%s is longer than %d bytes", path, maxFile)
	}
	return parseFile(path, text, keys)
}

// parseFile parses a YAML file. If a key is unknown, it returns the layer and
// an error.
func parseFile(path string, text []byte, keys []string) (layer, error) {
	lines, err := linesOfKeys(text)
	if err != nil {
		return layer{}, fmt.Errorf("%s: %w", path, err)
	}
	k := koanf.New(delimiter)
	if len(lines) > 0 {
		if err := k.Load(rawbytes.Provider(text), yaml.Parser()); err != nil {
			return layer{}, fmt.Errorf("%s: %w", path, withoutText(err))
		}
	}
	at := func(key string) Source {
		top, _, _ := strings.Cut(key, delimiter)
		for _, spelt := range []string{key, top} {
			if line, ok := lines[spelt]; ok {
				return Source{FromFile, fmt.Sprintf("%s:%d", path, line)}
			}
		}
		return Source{FromFile, path}
	}
	var errs []error
	for _, key := range k.Keys() {
		if top, _, _ := strings.Cut(key, delimiter); !slices.Contains(keys, top) {
			errs = append(errs, unknownKey(key, at(key), keys))
		}
	}
	return layer{k, at}, errors.Join(errs...)
}

func unknownKey(key string, at Source, keys []string) error {
	spelt := strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(key))
	if near := Nearest(spelt, keys); near != "" {
		return fmt.Errorf("%s: unknown key %q: is %s meant?", at, key, near)
	}
	return fmt.Errorf("%s: unknown key %q", at, key)
}

// linesOfKeys returns the line of each key, which koanf does not report; nil for a
// file without settings.
func linesOfKeys(text []byte) (map[string]int, error) {
	d := yamlv3.NewDecoder(bytes.NewReader(text))
	var document, another yamlv3.Node
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, withoutText(err)
	}
	if err := d.Decode(&another); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document")
	}
	root := document.Content[0]
	if root.Kind == yamlv3.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yamlv3.MappingNode {
		return nil, errors.New("not a YAML mapping of keys to values")
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i]
		if first, ok := lines[key.Value]; ok {
			return nil, fmt.Errorf("the key in line %d is repeated in line %d", first, key.Line)
		}
		lines[key.Value] = key.Line
	}
	return lines, nil
}

var yamlLine = regexp.MustCompile(`line \d+`)

// withoutText removes the parsed text from an error of the YAML parser, because the file
// may be a key file that was named by mistake.
func withoutText(err error) error {
	if line := yamlLine.FindString(err.Error()); line != "" {
		return errors.New("not valid YAML near " + line)
	}
	return errors.New("not valid YAML")
}
