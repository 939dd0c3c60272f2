package progress_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/progress"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// TestTerminal: on a terminal the bar appears after two seconds and is removed at the end.
func TestTerminal(t *testing.T) {
	person, terminal := testkit.Terminal(t)
	texts := make(chan string, 1000)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := person.Read(b)
			if err != nil {
				close(texts)
				return
			}
			texts <- string(b[:n])
		}
	}()
	began := time.Now()
	p := progress.Start(progress.Options{Out: terminal, What: "restoring", Total: 100 << 20})
	p.Add(50 << 20)
	text := <-texts
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second)
	for !strings.Contains(text, "50%") {
		text += <-texts
	}
	require.Contains(t, text, "restoring")
	require.NotContains(t, text, "\n")
	p.Stop()
}
