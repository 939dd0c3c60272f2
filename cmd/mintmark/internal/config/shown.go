package config

import (
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// Shown is the answer of "config show": every setting, and the secrets that are set in
// the environment with Hidden as their value.
type Shown struct {
	Settings []ShownSetting `json:"settings"`
}

// A ShownSetting is one row of Shown.
type ShownSetting struct {
	Key   string `json:"key"`
	Value any    `json:"value"` // string, []string, int or bool; a duration is a string
	Source
}

// Hidden is shown instead of a secret.
const Hidden = "(not shown)"

// secretVariables are the variables whose values are never shown, with the key under
// which they are listed.
var secretVariables = map[string]string{EnvClusterKey: "cluster-key", EnvUpstreamSecret: "upstream-client-secret"}

// Shown returns every setting with its source, as "config show" prints them.
func (o *Options) Shown(from Sources, environ []string) Shown {
	var all Shown
	for _, s := range o.Settings() {
		row := ShownSetting{Key: s.Key, Source: from[s.Key]}
		switch v := s.Value.(type) {
		case *string:
			row.Value = *v
		case *[]string:
			row.Value = append([]string{}, *v...)
		case *time.Duration:
			row.Value = admin.FormatDuration(*v)
		case *int:
			row.Value = *v
		case *bool:
			row.Value = *v
		}
		all.Settings = append(all.Settings, row)
	}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if secret := secretVariables[name]; secret != "" && value != "" {
			all.Settings = append(all.Settings, ShownSetting{secret, Hidden, Source{FromEnvironment, name}})
		}
	}
	return all
}
