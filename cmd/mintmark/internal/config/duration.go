package config

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// durationFlag is a duration that also accepts days, as every setting does.
type durationFlag time.Duration

var _ pflag.Value = (*durationFlag)(nil)

// DurationVar declares a flag.
func DurationVar(f *pflag.FlagSet, into *time.Duration, name string, value time.Duration, usage string) {
	*into = value
	f.Var((*durationFlag)(into), name, usage)
	f.Lookup(name).DefValue = admin.FormatDuration(value) // for --help
}

// String has the form that pflag's GetDuration parses.
func (d *durationFlag) String() string { return time.Duration(*d).String() }

// Type is the type shown by --help, which pflag's GetDuration expects too.
func (*durationFlag) Type() string { return "duration" }

func (d *durationFlag) Set(text string) error {
	v, err := admin.ParseDuration(text)
	if err == nil {
		*d = durationFlag(v)
	}
	return err
}
