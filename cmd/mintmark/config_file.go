package main

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

// maxConfigFile bounds what is read as a file of settings, in bytes.
const maxConfigFile = 64 << 10

func fileLayer(path string) (configLayer, error) {
	f, err := os.Open(path)
	if err != nil {
		return configLayer{}, fmt.Errorf("open the file of settings: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxConfigFile+1))
	if err != nil {
		return configLayer{}, fmt.Errorf("read the file of settings: %w", err)
	}
	if len(text) > maxConfigFile {
		return configLayer{}, fmt.Errorf("%s is longer than %d bytes", path, maxConfigFile)
	}
	return parseConfigFile(path, text)
}

// parseConfigFile reads YAML. The layer is there also where keys of it are
// unknown.
func parseConfigFile(path string, text []byte) (configLayer, error) {
	lines, err := linesOfKeys(text)
	if err != nil {
		return configLayer{}, fmt.Errorf("%s: %w", path, err)
	}
	k := koanf.New(configDelimiter)
	if len(lines) > 0 {
		if err := k.Load(rawbytes.Provider(text), yaml.Parser()); err != nil {
			return configLayer{}, fmt.Errorf("%s: %w", path, withoutText(err))
		}
	}
	at := func(key string) source {
		top, _, _ := strings.Cut(key, configDelimiter)
		for _, spelt := range []string{key, top} {
			if line, ok := lines[spelt]; ok {
				return source{fromFile, fmt.Sprintf("%s:%d", path, line)}
			}
		}
		return source{fromFile, path}
	}
	keys := configKeys(keyConfig)
	var errs []error
	for _, key := range k.Keys() {
		if top, _, _ := strings.Cut(key, configDelimiter); !slices.Contains(keys, top) {
			errs = append(errs, unknownKey(key, at(key), keys))
		}
	}
	return configLayer{k, at}, errors.Join(errs...)
}

func unknownKey(key string, at source, keys []string) error {
	spelt := strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(key))
	if near := nearest(spelt, keys); near != "" {
		return fmt.Errorf("%s: unknown key %q: is %s meant?", at, key, near)
	}
	return fmt.Errorf("%s: unknown key %q", at, key)
}

// linesOfKeys are the lines of the keys, which koanf does not know. A file
// without settings has none.
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
			return nil, fmt.Errorf("the key of line %d comes again in line %d", first, key.Line)
		}
		lines[key.Value] = key.Line
	}
	return lines, nil
}

var yamlLine = regexp.MustCompile(`line \d+`)

// withoutText is an error of the YAML parser without what was read: somebody
// may have named the file of a key.
func withoutText(err error) error {
	if line := yamlLine.FindString(err.Error()); line != "" {
		return errors.New("not valid YAML near " + line)
	}
	return errors.New("not valid YAML")
}
