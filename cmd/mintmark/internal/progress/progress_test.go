package progress_test

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/progress"
)

// TestLines: without a terminal, a line appears every ten seconds. A short operation has
// none.
func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		var mu sync.Mutex
		line := func(text string) { mu.Lock(); defer mu.Unlock(); lines = append(lines, text) }
		p := progress.Start(progress.Options{Out: io.Discard, Line: line, What: "saving the backup", Total: 4 << 20})
		time.Sleep(9 * time.Second)
		_, err := io.Copy(p.Writer(io.Discard), p.Reader(strings.NewReader(strings.Repeat("x", 1<<19))))
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		p.Set(3<<20, 4<<20, "almost")
		time.Sleep(10 * time.Second)
		p.Set(0, 0, "waiting")
		time.Sleep(10 * time.Second)
		p.Stop()
		require.Equal(t, []string{
			"saving the backup: 1.0 MiB of 4.0 MiB, 25 %, 10s",
			"saving the backup: 3.0 MiB of 4.0 MiB, 75 %, almost, 20s",
			"saving the backup: waiting, 30s",
		}, lines)

		var out bytes.Buffer
		p = progress.Start(progress.Options{Out: &out, What: "measuring", Total: 20, Plain: true})
		time.Sleep(time.Second)
		p.Stop()
		require.Empty(t, out.String())
		p = progress.Start(progress.Options{Out: &out, What: "measuring", Total: 20, Plain: true})
		p.Add(5)
		time.Sleep(11 * time.Second)
		p.Stop()
		require.Equal(t, "measuring: 25 %, 10s\n", out.String())
	})
}

func TestNil(t *testing.T) {
	var p *progress.Progress
	p.Add(1)
	p.Set(1, 2, "")
	p.Stop()
}
