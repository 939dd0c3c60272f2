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

// logger writes what o says, as it says.
func (o *serveOptions) logger(stderr io.Writer) *slog.Logger {
	o.level = new(slog.LevelVar)
	o.setLogLevel()
	h := handlerOptions(o.level)
	if o.LogFormat == logJSON {
		return slog.New(slog.NewJSONHandler(stderr, h))
	}
	return slog.New(slog.NewTextHandler(stderr, h))
}

// handlerOptions write a duration as text with its unit. JSON would have it in
// nanoseconds, without saying so.
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

// logStart logs what runs, where, and the place of each setting that is not its
// default.
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

// errLogged is an error that the node's log has, so that nothing but JSON is
// written where the log is JSON.
type errLogged struct{ error }

func (e errLogged) Unwrap() error { return e.error }
