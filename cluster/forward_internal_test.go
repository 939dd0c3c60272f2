package cluster

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrorsTravel: an operator is told the same whichever node is asked, and
// what the exit code hangs on is not lost on the way from the leader.
func TestErrorsTravel(t *testing.T) {
	few := quorum{voters: []string{"n1", "n2", "n3"}, silent: []string{"n2", "n3"}}.noMajorityError()
	var back *NoMajorityError
	require.ErrorAs(t, errorReply(fmt.Errorf("remove: %w", few)).err(), &back)
	require.Equal(t, few.Error(), back.Error())

	require.ErrorIs(t, errorReply(fmt.Errorf("%w: somehow", ErrUnknown)).err(), ErrUnknown)
	require.ErrorIs(t, errorReply(fmt.Errorf("%w: somehow", ErrUnavailable)).err(), ErrUnavailable)
	require.ErrorIs(t, errorReply(fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading)).err(), errNotLeading)
	require.Equal(t, byte(replyFailed), errorReply(&RefusedError{"a rule"}).status)
}
