package transport

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSilentConnectionIsClosed: a connection over which nothing comes is replaced, also if each
// call ends before its own timeout. One on which some calls are answered stays.
func TestSilentConnectionIsClosed(t *testing.T) {
	for name, answers := range map[string]bool{"silent": false, "answers others": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here, there := net.Pipe()
				p := newPeerClient(here)
				defer p.close()
				go func() {
					defer func() { _ = there.Close() }()
					in := bufio.NewReader(there)
					for {
						b, err := readMessage(in, requestHead)
						if err != nil {
							return
						}
						if op := b[8]; op == OpBarrier {
							m := binary.BigEndian.AppendUint32(nil, replyHead)
							_, _ = there.Write(append(append(m, b[:8]...), ReplyOK))
						}
					}
				}()
				began := time.Now()
				for time.Since(began) < 10*time.Second && !p.isClosed() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					_, err := p.call(ctx, nil, OpStatus, nil, 2*time.Second)
					cancel()
					require.Error(t, err)
					if answers {
						_, err = p.call(t.Context(), nil, OpBarrier, nil, time.Second)
						require.NoError(t, err)
					}
				}
				require.Equal(t, !answers, p.isClosed())
				if !answers {
					require.LessOrEqual(t, time.Since(began), maxSilence+time.Second)
				}
			})
		})
	}
}
