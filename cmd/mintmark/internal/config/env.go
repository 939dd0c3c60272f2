package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
)

const (
	// EnvPrefix begins the name of every variable of this program. An unknown variable
	// that begins with it is an error, so that a typing mistake is found.
	EnvPrefix = "MINTMARK_"
	// EnvTestPrefix begins the variables that only our tests read.
	EnvTestPrefix = "MINTMARK_TEST_"
	// EnvClusterKey may have the cluster key. It is a secret and not a setting: it is
	// never shown, and has neither a flag nor a key in the file.
	EnvClusterKey = "MINTMARK_CLUSTER_KEY"
)

// An envText is a value from the environment, where every value is text. The entries
// of a list are separated by commas.
type envText string

// environmentLayer has the variables that are set. An empty variable counts as not
// set, because orchestrators pass a missing value so.
func environmentLayer(environ []string) (layer, error) {
	keys := keyNames()
	var errs []error
	k := koanf.New(delimiter)
	err := k.Load(env.Provider("", env.Opt{
		Prefix:      EnvPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			key := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, EnvPrefix), "_", "-"))
			switch {
			case name == EnvClusterKey, name == EnvUpstreamSecret, slices.Contains(serverVariables, name), strings.HasPrefix(name, EnvTestPrefix), isKubernetesVariable(name, value):
				return "", nil
			case !slices.Contains(keys, key) || name != Variable(key):
				errs = append(errs, unknownVariable(name, keys))
				return "", nil
			case value == "":
				return "", nil
			}
			return key, envText(value)
		},
	}), nil)
	return layer{k, func(key string) Source { return Source{FromEnvironment, Variable(key)} }},
		errors.Join(append(errs, err)...)
}

// Variable returns the name of the environment variable of a setting.
func Variable(key string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

func unknownVariable(name string, keys []string) error {
	names := append([]string{EnvClusterKey, EnvUpstreamSecret}, serverVariables...)
	for _, key := range keys {
		names = append(names, Variable(key))
	}
	if near := Nearest(strings.ToUpper(name), names); near != "" {
		return fmt.Errorf("unknown variable %s in the environment: is %s meant?", name, near)
	}
	return fmt.Errorf("unknown variable %s in the environment", name)
}

// serviceLink matches the variables that Kubernetes sets in every container of a
// namespace with a service named mintmark or mintmark-ops.
var serviceLink = regexp.MustCompile(`^MINTMARK_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// isKubernetesVariable reports whether a variable describes a service and is no
// setting. A name that ends in _PORT is judged by its value, because an operator
// might write that name by mistake.
func isKubernetesVariable(name, value string) bool {
	return serviceLink.MatchString(name) ||
		strings.HasSuffix(name, "_PORT") && (strings.HasPrefix(value, "tcp://") || strings.HasPrefix(value, "udp://"))
}
