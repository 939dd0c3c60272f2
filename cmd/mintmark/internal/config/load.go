package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// A layer has the settings of one source. A later layer overrides an earlier one.
type layer struct {
	values *koanf.Koanf
	source func(key string) Source
}

// delimiter separates the levels of koanf's keys. Our keys have one level, so a nested
// key of a file is an unknown key.
const delimiter = "."

// Load reads all settings: a flag overrides the environment, which overrides the
// file, which overrides the default. The error lists every wrong setting with its
// source. It never has a value, because people paste secrets into the wrong field.
// Options and sources are returned with an error too, as far as they could be read,
// for "config show"; sources are nil if nothing could be read.
func Load(flags *pflag.FlagSet, environ []string) (Options, Sources, error) {
	return LoadInstalled(flags, environ, Installed{})
}

// LoadInstalled is Load for a command about the node that is installed on this machine:
// without a file of its own it uses that node's.
func LoadInstalled(flags *pflag.FlagSet, environ []string, node Installed) (Options, Sources, error) {
	o, from, err := read(flags, environ, node)
	if err == nil {
		err = o.Check(from)
	}
	return o, from, wrapLoad(err)
}

// Read is LoadInstalled for a command that needs a few settings: the values have the right
// types, and are not checked together.
func Read(flags *pflag.FlagSet, environ []string, node Installed) (Options, Sources, error) {
	o, from, err := read(flags, environ, node)
	return o, from, wrapLoad(err)
}

func wrapLoad(err error) error {
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// Installed is the node of a package or of the systemd unit.
type Installed struct {
	File    string // its settings; "" for none
	DataDir string // its data folder: a node with another one has other settings
}

// settings returns the path of its settings if they are those of the node in dataDir, ""
// for any, and if this account may read them; "" otherwise.
func (i Installed) settings(dataDir string) string {
	if i.File == "" || dataDir != "" && filepath.Clean(dataDir) != i.DataDir {
		return ""
	}
	f, err := os.Open(i.File)
	if err != nil {
		return ""
	}
	_ = f.Close()
	return i.File
}

func read(flags *pflag.FlagSet, environ []string, node Installed) (Options, Sources, error) {
	o := Default()
	defaults, err := defaultLayer(&o)
	if err != nil {
		return o, nil, err
	}
	environment, errEnvironment := environmentLayer(environ)
	given, err := flagLayer(flags)
	if err != nil {
		return o, nil, err
	}
	layers := []layer{defaults, environment, given}
	var errFile error
	path := textIn(KeyConfig, given, environment)
	if path == "" {
		path = node.settings(textIn(KeyDataDir, given, environment))
	}
	if path != "" {
		var file layer
		file, errFile = fileLayer(path, keyNames(KeyConfig))
		if file.values != nil {
			layers = slices.Insert(layers, 1, file)
		}
	}
	from, errTypes := o.assign(layers)
	o.Config = path
	err = errors.Join(errFile, errEnvironment, errTypes)
	o.Named = o.Name != ""
	if !o.Named && err == nil {
		o.Name, err = os.Hostname()
	}
	return o, from, err
}

// assign sets each setting to the value of the last layer that has one.
func (o *Options) assign(layers []layer) (Sources, error) {
	from := Sources{}
	var errs []error
	for _, s := range o.Settings() {
		for _, layer := range slices.Backward(layers) {
			if !layer.values.Exists(s.Key) {
				continue
			}
			from[s.Key] = layer.source(s.Key)
			if expected := assignValue(s.Value, layer.values.Get(s.Key)); expected != "" {
				errs = append(errs, SettingError(s.Key, from, "expected "+expected))
			}
			break
		}
	}
	return from, errors.Join(errs...)
}

// SettingError returns the error for a wrong setting, with its key and source.
func SettingError(key string, from Sources, what string) error {
	return fmt.Errorf("%s (%s): %s", key, from[key], what)
}

// wrapSettingError is SettingError for a reason that callers find with errors.Is.
func wrapSettingError(key string, from Sources, reason error) error {
	return fmt.Errorf("%s (%s): %w", key, from[key], reason)
}

// assignValue sets a setting to a value of its type, or to an envText, which it parses.
// It returns a description of the expected value, or "" after success.
func assignValue(to, value any) (expected string) {
	text, isText := value.(envText)
	switch to := to.(type) {
	case *string:
		if isText {
			*to = string(text)
		} else if v, ok := value.(string); ok {
			*to = v
		} else {
			return "a text (in quotes if it looks like a number)"
		}
	case *bool:
		if isText {
			v, err := strconv.ParseBool(string(text))
			if err != nil {
				return "true or false"
			}
			*to = v
		} else if v, ok := value.(bool); ok {
			*to = v
		} else {
			return "true or false"
		}
	case *time.Duration:
		return assignDuration(to, value)
	case *int:
		if isText {
			v, err := strconv.Atoi(string(text))
			if err != nil {
				return "a whole number"
			}
			*to = v
		} else if v, ok := value.(int); ok {
			*to = v
		} else {
			return "a whole number"
		}
	case *[]string:
		return assignList(to, value)
	}
	return ""
}

func assignDuration(to *time.Duration, value any) (expected string) {
	switch v := value.(type) {
	case time.Duration:
		*to = v
		return ""
	case envText:
		value = string(v)
	}
	text, _ := value.(string)
	d, err := admin.ParseDuration(text)
	if err != nil {
		return "a duration such as 500ms, 2m30s or 1d"
	}
	*to = d
	return ""
}

func assignList(to *[]string, value any) (expected string) {
	switch v := value.(type) {
	case []string:
		*to = v
		return ""
	case envText:
		*to = nil
		for part := range strings.SplitSeq(string(v), ",") {
			if part = strings.TrimSpace(part); part != "" {
				*to = append(*to, part)
			}
		}
		return ""
	case []any:
		list := make([]string, len(v))
		for i := range v {
			var ok bool
			if list[i], ok = v[i].(string); !ok {
				return "a list of texts"
			}
		}
		*to = list
		return ""
	}
	return "a list of texts"
}

func defaultLayer(o *Options) (layer, error) {
	values := map[string]any{}
	for _, s := range o.Settings() {
		switch v := s.Value.(type) {
		case *string:
			values[s.Key] = *v
		case *[]string:
			values[s.Key] = *v
		case *time.Duration:
			values[s.Key] = *v
		case *int:
			values[s.Key] = *v
		case *bool:
			values[s.Key] = *v
		}
	}
	k := koanf.New(delimiter)
	err := k.Load(confmap.Provider(values, delimiter), nil)
	return layer{k, func(string) Source { return Source{Kind: FromDefault} }}, err
}

// flagLayer has the flags that were set. pflag has checked their types.
func flagLayer(flags *pflag.FlagSet) (layer, error) {
	k := koanf.New(delimiter)
	err := k.Load(posflag.Provider(flags, delimiter, nil), nil)
	return layer{k, func(key string) Source { return Source{FromFlag, "--" + key} }}, err
}

// textIn returns the text of a setting in the first layer that has it, "" if none has: the
// file of settings can't name itself.
func textIn(key string, layers ...layer) string {
	for _, layer := range layers {
		var text string
		if layer.values.Exists(key) && assignValue(&text, layer.values.Get(key)) == "" {
			return text
		}
	}
	return ""
}

// keyNames returns the keys of all settings but these.
func keyNames(except ...string) []string {
	var keys []string
	for _, s := range new(Options).Settings() {
		if !slices.Contains(except, s.Key) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}
