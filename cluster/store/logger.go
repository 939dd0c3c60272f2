package store

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// NewLogger returns a logger for raft that writes to slog. raft's information is about its
// internals, so it is one level lower here. So are its messages about elections and
// unreachable peers, which are no fault, or repeat one: the node itself logs changes of
// peers and leadership once.
func NewLogger(to *slog.Logger) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "raft", Level: hclog.Off, Output: io.Discard})
	l.RegisterSink(sink{to})
	return l
}

// sink is where hclog's records go.
type sink struct{ to *slog.Logger }

func slogLevel(l hclog.Level) slog.Level {
	switch l {
	case hclog.Error:
		return slog.LevelError
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Info:
		return slog.LevelDebug
	default:
		return slog.LevelDebug - 4
	}
}

// routineMessages are the beginnings of raft's warnings and errors that need no action.
var routineMessages = []string{
	"Election timeout reached", "appendEntries rejected", "clearing log suffix", "duplicate requestVote",
	"failed to appendEntries to", "failed to contact", "failed to decode incoming command", "failed to flush response",
	"failed to get previous log", "failed to heartbeat to", "failed to make requestVote RPC", "failed to pipeline appendEntries",
	"failed to start pipeline replication to", "heartbeat timeout reached", "new leader elected", "no known peers",
	"not part of stable configuration", "peer has newer term", "previous log term mis-match", "rejecting pre-vote request",
	"rejecting vote request", "skipping application of old log", "unable to get address for server",
}

func isRoutine(msg string) bool {
	return slices.ContainsFunc(routineMessages, func(begin string) bool { return strings.HasPrefix(msg, begin) })
}

// Accept implements hclog.SinkAdapter.
func (s sink) Accept(name string, level hclog.Level, msg string, args ...any) {
	sl := slogLevel(level)
	if sl > slog.LevelDebug && isRoutine(msg) {
		sl = slog.LevelDebug
	}
	if !s.to.Enabled(context.Background(), sl) {
		return
	}
	for i, a := range args { // args is a copy
		switch a := a.(type) {
		case hclog.Format:
			if len(a) > 0 {
				args[i] = fmt.Sprintf(fmt.Sprint(a[0]), a[1:]...)
			}
		case string:
			if i%2 == 0 {
				args[i] = renameKey(a)
			}
		}
	}
	s.to.Log(context.Background(), sl, name+": "+msg, args...)
}

// renameKey returns another name for a key that slog adds to each line. With duplicate
// keys, a JSON reader would use the last value.
func renameKey(key string) string {
	switch key {
	case slog.TimeKey, slog.LevelKey, slog.MessageKey, slog.SourceKey:
		return "raft_" + key
	}
	return key
}
