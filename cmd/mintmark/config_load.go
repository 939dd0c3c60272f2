package main

import (
	"errors"
	"fmt"
	"os"
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

// A configLayer is what one source says. A later layer goes before an earlier
// one.
type configLayer struct {
	values *koanf.Koanf
	source func(key string) source
}

// configDelimiter separates the levels of koanf's keys. Ours have one level,
// so a nested key of a file is simply not among them.
const configDelimiter = "."

// loadServeOptions reads all settings: a flag goes before the environment,
// that before the file, that before the default. The error names everything
// that is wrong with its place, and never a value, since people paste secrets
// into the wrong field. The options and sources are as far as they could be
// read even then, for "config show".
func loadServeOptions(flags *pflag.FlagSet, environ []string) (serveOptions, sources, error) {
	o := defaultServeOptions()
	defaults, err := defaultLayer(&o)
	if err != nil {
		return o, nil, err
	}
	environment, errEnvironment := environmentLayer(environ)
	given, err := flagLayer(flags)
	if err != nil {
		return o, nil, err
	}
	layers := []configLayer{defaults, environment, given}
	var errFile error
	if path := configFile(given, environment); path != "" {
		var file configLayer
		file, errFile = fileLayer(path)
		if file.values != nil {
			layers = slices.Insert(layers, 1, file)
		}
	}
	from, errTypes := o.assign(layers)
	err = errors.Join(errFile, errEnvironment, errTypes)
	o.named = o.Name != ""
	if !o.named && err == nil {
		o.Name, err = os.Hostname()
	}
	if err == nil {
		err = o.check(from)
	}
	if err != nil {
		err = fmt.Errorf("configuration: %w", err)
	}
	return o, from, err
}

// assign gives each setting the value of the last layer that has one.
func (o *serveOptions) assign(layers []configLayer) (sources, error) {
	from := sources{}
	var errs []error
	for _, s := range o.settings() {
		for _, layer := range slices.Backward(layers) {
			if !layer.values.Exists(s.key) {
				continue
			}
			from[s.key] = layer.source(s.key)
			if expected := assignValue(s.value, layer.values.Get(s.key)); expected != "" {
				errs = append(errs, settingError(s.key, from, "expected "+expected))
			}
			break
		}
	}
	return from, errors.Join(errs...)
}

// settingError says what is the matter with a setting, and where it was made.
func settingError(key string, from sources, what string) error {
	return fmt.Errorf("%s (%s): %s", key, from[key], what)
}

// assignValue sets a setting. What is not of its type is answered by what was
// expected. Variables of the environment come as configText.
func assignValue(to, value any) (expected string) {
	text, isText := value.(configText)
	switch to := to.(type) {
	case *string:
		if isText {
			*to = string(text)
		} else if v, ok := value.(string); ok {
			*to = v
		} else {
			return "a text (in quotes, where it looks like a number)"
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
	case configText:
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
	case configText:
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

func defaultLayer(o *serveOptions) (configLayer, error) {
	values := map[string]any{}
	for _, s := range o.settings() {
		switch v := s.value.(type) {
		case *string:
			values[s.key] = *v
		case *[]string:
			values[s.key] = *v
		case *time.Duration:
			values[s.key] = *v
		case *bool:
			values[s.key] = *v
		}
	}
	k := koanf.New(configDelimiter)
	err := k.Load(confmap.Provider(values, configDelimiter), nil)
	return configLayer{k, func(string) source { return source{Kind: fromDefault} }}, err
}

// flagLayer has the flags that were given. pflag has checked their types.
func flagLayer(flags *pflag.FlagSet) (configLayer, error) {
	k := koanf.New(configDelimiter)
	err := k.Load(posflag.Provider(flags, configDelimiter, nil), nil)
	return configLayer{k, func(key string) source { return source{fromFlag, "--" + key} }}, err
}

// configFile is the path of the file, which can't be in the file.
func configFile(given, environment configLayer) string {
	for _, layer := range []configLayer{given, environment} {
		var path string
		if layer.values.Exists(keyConfig) && assignValue(&path, layer.values.Get(keyConfig)) == "" {
			return path
		}
	}
	return ""
}

// configKeys are the keys that a place may have.
func configKeys(except ...string) []string {
	var keys []string
	for _, s := range new(serveOptions).settings() {
		if !slices.Contains(except, s.key) {
			keys = append(keys, s.key)
		}
	}
	return keys
}
