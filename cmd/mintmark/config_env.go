package main

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
	// envPrefix begins the name of every variable that is ours: a typing
	// mistake in one must not be taken for somebody else's variable.
	envPrefix = "MINTMARK_"
	// envTestPrefix begins those that only our tests read.
	envTestPrefix = "MINTMARK_TEST_"
	// envClusterKey holds the key of the cluster itself. It is no setting: it
	// is never shown, and there is neither a flag nor a key of a file for it.
	envClusterKey = "MINTMARK_CLUSTER_KEY"
)

// A configText is a value from the environment, where everything is text: a
// list is separated by commas.
type configText string

// environmentLayer has the variables that are set. An empty one counts as not
// set, since that is how orchestrators pass on what they have no value for.
func environmentLayer(environ []string) (configLayer, error) {
	keys := configKeys()
	var errs []error
	k := koanf.New(configDelimiter)
	err := k.Load(env.Provider("", env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			key := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, envPrefix), "_", "-"))
			switch {
			case name == envClusterKey, name == envUpstreamSecret, strings.HasPrefix(name, envTestPrefix), isKubernetesVariable(name, value):
				return "", nil
			case !slices.Contains(keys, key) || name != envName(key):
				errs = append(errs, unknownVariable(name, keys))
				return "", nil
			case value == "":
				return "", nil
			}
			return key, configText(value)
		},
	}), nil)
	return configLayer{k, func(key string) source { return source{fromEnvironment, envName(key)} }},
		errors.Join(append(errs, err)...)
}

func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

func unknownVariable(name string, keys []string) error {
	names := []string{envClusterKey, envUpstreamSecret}
	for _, key := range keys {
		names = append(names, envName(key))
	}
	if near := nearest(strings.ToUpper(name), names); near != "" {
		return fmt.Errorf("unknown variable %s in the environment: is %s meant?", name, near)
	}
	return fmt.Errorf("unknown variable %s in the environment", name)
}

// serviceLink matches the variables that Kubernetes puts into every container
// beside a service named mintmark, or mintmark-ops.
var serviceLink = regexp.MustCompile(`^MINTMARK_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// isKubernetesVariable reports whether a variable describes a service rather than
// configures us. The one that ends in _PORT is told by its value, because a
// person might write that name too.
func isKubernetesVariable(name, value string) bool {
	return serviceLink.MatchString(name) ||
		strings.HasSuffix(name, "_PORT") && (strings.HasPrefix(value, "tcp://") || strings.HasPrefix(value, "udp://"))
}
