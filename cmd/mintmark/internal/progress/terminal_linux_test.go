package progress_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/progress"
)

// TestTerminal: on a terminal the bar appears after two seconds and is removed at the end.
func TestTerminal(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer master.Close()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	texts := make(chan string, 1000)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
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
