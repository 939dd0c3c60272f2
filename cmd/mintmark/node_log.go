package main

import (
	"io"
	"log/slog"
	"runtime"
)

const (
	logText = "text"
	logJSON = "json"
)

// logger returns the node's log with the level and the format of the options.
func (o *serveOptions) logger(stderr io.Writer) *slog.Logger {
	o.level = new(slog.LevelVar)
	o.setLogLevel()
	h := handlerOptions(o.level)
	if o.LogFormat == logJSON {
		return slog.New(slog.NewJSONHandler(stderr, h))
	}
	return slog.New(slog.NewTextHandler(stderr, h))
}

// handlerOptions make a handler write durations as text with a unit. JSON would have
// them as a number of nanoseconds, without the unit.
func handlerOptions(level slog.Leveler) *slog.HandlerOptions {
	return &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() == slog.KindDuration {
			a.Value = slog.StringValue(a.Value.Duration().String())
		}
		return a
	}}
}

func (o *serveOptions) setLogLevel() {
	o.level.Set(slog.LevelInfo)
	if o.Verbose {
		o.level.Set(slog.LevelDebug)
	}
}

// logStart logs the version, the addresses, and the source of each setting that is
// not a default.
func (o *serveOptions) logStart(log *slog.Logger, from sources) {
	var places []any
	for _, s := range o.settings() {
		if at := from[s.key]; at.Kind != fromDefault {
			places = append(places, slog.String(s.key, at.String()))
		}
	}
	log.Info("node starting", "version", version, "go", runtime.Version(), "name", o.Name, "data_dir", o.DataDir,
		"listen", o.Listen, "ops_listen", o.OpsListen, "cluster_listen", o.ClusterListen, slog.Group("settings_from", places...))
}

// errLogged is an error that was logged already. main does not print it again, so
// that standard error has nothing but JSON if the log is JSON.
type errLogged struct{ error }

func (e errLogged) Unwrap() error { return e.error }
