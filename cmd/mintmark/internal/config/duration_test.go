package config

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// TestDurationsHaveDays: days are accepted in a flag and in every other source.
func TestDurationsHaveDays(t *testing.T) {
	var fromFlag, fromFile time.Duration
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	DurationVar(flags, &fromFlag, "ttl", time.Hour, "")
	require.Equal(t, time.Hour, fromFlag)
	require.NoError(t, flags.Parse([]string{"--ttl", "2d"}))
	require.Equal(t, 48*time.Hour, fromFlag)
	read, err := flags.GetDuration("ttl")
	require.NoError(t, err)
	require.Equal(t, fromFlag, read)
	require.Error(t, flags.Parse([]string{"--ttl", "soon"}))
	require.Empty(t, assignDuration(&fromFile, envText("2d")))
	require.Equal(t, fromFlag, fromFile)
}
