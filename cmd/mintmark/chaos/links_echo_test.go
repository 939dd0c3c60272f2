package chaos

import (
	"bufio"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// eventually is the longest wait for something that normally happens at once.
const eventually = 20 * time.Second

// newEcho starts a server that sends back what it receives.
func newEcho(t *testing.T) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

type echoClient struct {
	net.Conn
	lines *bufio.Reader
}

func dialEcho(t *testing.T, address string) echoClient {
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return echoClient{c, bufio.NewReader(c)}
}

// errSilence reports that there was no answer.
var errSilence = errors.New("silence")

// says sends a line on a new connection and waits briefly for the echo.
func says(t *testing.T, address string) error {
	c := dialEcho(t, address)
	if _, err := c.Write([]byte("hello\n")); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		return err
	}
	line, err := c.lines.ReadString('\n')
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return errSilence
	case err == nil && line != "hello\n":
		return errors.New("heard " + line)
	}
	return err
}
