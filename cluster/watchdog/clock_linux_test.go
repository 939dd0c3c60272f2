package watchdog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestKernelConfirms: the kernel confirms only a synchronised clock with the time that
// the node has read.
func TestKernelConfirms(t *testing.T) {
	now := time.Now()
	said := func(status int32, at time.Time) *unix.Timex {
		kernel := &unix.Timex{Status: status}
		kernel.Time.Sec = at.Unix()
		return kernel
	}
	require.NoError(t, kernelConfirms(said(unix.STA_PLL, now), now))
	require.NoError(t, kernelConfirms(said(unix.STA_PLL, now.Add(-ClockTolerance+2*time.Second)), now))
	require.ErrorContains(t, kernelConfirms(said(unix.STA_PLL|unix.STA_UNSYNC, now), now), "is not synchronised")
	require.ErrorContains(t, kernelConfirms(said(unix.STA_PLL, now.Add(-time.Minute)), now), "differs from this one")
	require.ErrorContains(t, kernelConfirms(said(unix.STA_PLL, now.Add(time.Minute)), now), "differs from this one")
}
