package store

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// Logger writes raft's log lines to slog. raft's information is about its internals, so
// it is one level lower here. So are its messages about elections and unreachable peers,
// which are no fault, or repeat one: the node itself logs changes of peers and leadership
// once.
type Logger struct {
	to   *slog.Logger
	name string
	args []any
}

var _ hclog.Logger = (*Logger)(nil)

func NewLogger(to *slog.Logger) *Logger {
	return &Logger{to: to, name: "raft"}
}

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

func (l *Logger) Log(level hclog.Level, msg string, args ...any) {
	sl := slogLevel(level)
	if sl > slog.LevelDebug && isRoutine(msg) {
		sl = slog.LevelDebug
	}
	if !l.to.Enabled(context.Background(), sl) {
		return
	}
	for i, a := range args {
		if f, ok := a.(hclog.Format); ok && len(f) > 0 {
			args[i] = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
	}
	l.to.Log(context.Background(), sl, l.name+": "+msg, renameKeys(args)...)
}

// renameKeys returns args with other names for the keys that slog adds to each line. With
// duplicate keys, a JSON reader would use the last value.
func renameKeys(args []any) []any {
	for i := 0; i < len(args); i += 2 {
		switch key := args[i]; key {
		case slog.TimeKey, slog.LevelKey, slog.MessageKey, slog.SourceKey:
			args = slices.Clone(args)
			args[i] = fmt.Sprint("raft_", key)
		}
	}
	return args
}

func (l *Logger) Trace(msg string, args ...any) { l.Log(hclog.Trace, msg, args...) }
func (l *Logger) Debug(msg string, args ...any) { l.Log(hclog.Debug, msg, args...) }
func (l *Logger) Info(msg string, args ...any)  { l.Log(hclog.Info, msg, args...) }
func (l *Logger) Warn(msg string, args ...any)  { l.Log(hclog.Warn, msg, args...) }
func (l *Logger) Error(msg string, args ...any) { l.Log(hclog.Error, msg, args...) }

func (l *Logger) enabled(level hclog.Level) bool {
	return l.to.Enabled(context.Background(), slogLevel(level))
}

func (l *Logger) IsTrace() bool { return l.enabled(hclog.Trace) }
func (l *Logger) IsDebug() bool { return l.enabled(hclog.Debug) }
func (l *Logger) IsInfo() bool  { return l.enabled(hclog.Info) }
func (l *Logger) IsWarn() bool  { return l.enabled(hclog.Warn) }
func (l *Logger) IsError() bool { return l.enabled(hclog.Error) }

func (l *Logger) ImpliedArgs() []any { return l.args }

func (l *Logger) With(args ...any) hclog.Logger {
	return &Logger{to: l.to.With(renameKeys(args)...), name: l.name, args: append(l.args[:len(l.args):len(l.args)], args...)}
}

func (l *Logger) Name() string { return l.name }

func (l *Logger) Named(name string) hclog.Logger { return l.ResetNamed(l.name + "." + name) }

func (l *Logger) ResetNamed(name string) hclog.Logger {
	return &Logger{to: l.to, name: name, args: l.args}
}

// SetLevel does nothing: the level is that of the slog handler.
func (l *Logger) SetLevel(hclog.Level) {}

func (l *Logger) GetLevel() hclog.Level {
	for level := hclog.Trace; level < hclog.Error; level++ {
		if l.enabled(level) {
			return level
		}
	}
	return hclog.Error
}

func (l *Logger) StandardLogger(*hclog.StandardLoggerOptions) *log.Logger {
	return slog.NewLogLogger(l.to.Handler(), slog.LevelDebug)
}

func (l *Logger) StandardWriter(opts *hclog.StandardLoggerOptions) io.Writer {
	return l.StandardLogger(opts).Writer()
}
