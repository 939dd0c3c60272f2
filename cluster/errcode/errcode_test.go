package errcode_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

var (
	errFull  = errcode.New("full", "the disk is full")
	errOther = errcode.New("other", "something else")
)

// TestRestoredErrorIsItsSentinel: a code and a text are all that crosses to another process.
func TestRestoredErrorIsItsSentinel(t *testing.T) {
	here := fmt.Errorf("write entry 7: %w", errFull)
	there := errcode.Restore(errcode.Of(here), here.Error())
	require.EqualError(t, there, "write entry 7: the disk is full")
	require.ErrorIs(t, there, errFull)
	require.NotErrorIs(t, there, errOther)
	require.ErrorIs(t, fmt.Errorf("again: %w", there), errFull)
}

func TestErrorWithTextIsItsSentinel(t *testing.T) {
	err := errFull.WithText("the disk of n1 is full")
	require.EqualError(t, err, "the disk of n1 is full")
	require.ErrorIs(t, err, errFull)
	require.Equal(t, "full", errcode.Of(fmt.Errorf("x: %w", err)))
}

func TestErrorWithoutACode(t *testing.T) {
	plain := errors.New("plain")
	require.Empty(t, errcode.Of(plain))
	require.Empty(t, errcode.Of(nil))
	restored := errcode.Restore("", "plain")
	require.EqualError(t, restored, "plain")
	require.NotErrorIs(t, restored, errFull)
}
