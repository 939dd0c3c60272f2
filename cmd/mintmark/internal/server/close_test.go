package server

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newClosing returns a server of which only what a test sets is open.
func newClosing() *Server {
	return &Server{started: make(chan struct{}), stopping: make(chan struct{})}
}

// TestCloseCutsRequests: a request that is still in progress when the time for closing ends
// is cut, before the node and the journal close under it.
func TestCloseCutsRequests(t *testing.T) {
	began, cut := make(chan struct{}), make(chan struct{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := newClosing()
	s.serving = true
	s.public = &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(cut)
	})}
	t.Cleanup(func() { _ = s.public.Close() })
	go s.serve(s.public, l)
	answered := make(chan error, 1)
	go func() {
		r, err := http.Get("http://" + l.Addr().String())
		if err == nil {
			err = r.Body.Close()
		}
		answered <- err
	}()
	<-began
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Close(ended), context.Canceled)
	select {
	case <-cut:
	case <-time.After(20 * time.Second):
		t.Fatal("the request goes on")
	}
	require.Error(t, <-answered)
}

// TestCloseAfterTheClusterListener: the node closes its listener. If it fails to open after
// that, the error is not followed by one about the listener.
func TestCloseAfterTheClusterListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	s := newClosing()
	s.clusterListener = l
	require.NoError(t, s.Close(t.Context()))
}
