package cluster

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// TestErrorsTravel: an error of the leader arrives unchanged at the node that forwarded
// the request. So the operator gets the same text and exit code from every node.
func TestErrorsTravel(t *testing.T) {
	t.Parallel()
	few := quorum{voters: []string{"n1", "n2", "n3"}, silent: []string{"n2", "n3"}}.noMajorityError()
	var back *NoMajorityError
	require.ErrorAs(t, replyError(errorReply(fmt.Errorf("remove: %w", few))), &back)
	require.Equal(t, few.Error(), back.Error())

	require.ErrorIs(t, replyError(errorReply(fmt.Errorf("%w: somehow", ErrUnknown))), ErrUnknown)
	require.ErrorIs(t, replyError(errorReply(fmt.Errorf("%w: somehow", ErrUnavailable))), ErrUnavailable)
	require.ErrorIs(t, replyError(errorReply(fmt.Errorf("%w: %w", ErrUnavailable, errNotLeading))), errNotLeading)
	require.Equal(t, byte(transport.ReplyFailed), errorReply(errors.New("a fault")).Status)
	for _, sent := range []*member.RefusedError{{Reason: "a rule"}, {Reason: "n1: no other", Code: member.ErrLastVoter.Code()}, {}} {
		require.Equal(t, sent, replyError(errorReply(fmt.Errorf("%w", sent))))
	}
}
