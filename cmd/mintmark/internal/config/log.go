package config

import (
	"io"
	"log/slog"
	"runtime"
)

// The formats of the log.
const (
	LogText = "text"
	LogJSON = "json"
)

// Logger returns the node's log with the level and the format of the options.
func (o *Options) Logger(stderr io.Writer) *slog.Logger {
	o.level = new(slog.LevelVar)
	o.SetLogLevel()
	h := HandlerOptions(o.level)
	if o.LogFormat == LogJSON {
		return slog.New(slog.NewJSONHandler(stderr, h))
	}
	return slog.New(slog.NewTextHandler(stderr, h))
}

// HandlerOptions returns options for a log handler that writes durations as text with
// a unit; JSON would have them as a number of nanoseconds.
func HandlerOptions(level slog.Leveler) *slog.HandlerOptions {
	return &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() == slog.KindDuration {
			a.Value = slog.StringValue(a.Value.Duration().String())
		}
		return a
	}}
}

// SetLogLevel sets the level of the log to that of the options; info if it is wrong.
func (o *Options) SetLogLevel() {
	level, _ := ParseLogLevel(o.LogLevel)
	o.level.Set(level)
}

// Level returns the level of the log that Logger made.
func (o *Options) Level() *slog.LevelVar { return o.level }

// ExpectedLogLevel describes the texts of ParseLogLevel.
const ExpectedLogLevel = "debug, info, warn or error"

// ParseLogLevel parses the name of a level.
func ParseLogLevel(text string) (level slog.Level, known bool) {
	switch text {
	case "debug", "info", "warn", "error":
		return level, level.UnmarshalText([]byte(text)) == nil
	}
	return slog.LevelInfo, false
}

// LogStart logs the program's version, the addresses, and the source of each
// setting that is not a default.
func (o *Options) LogStart(log *slog.Logger, from Sources, version string) {
	var places []any
	for _, s := range o.Settings() {
		if at := from[s.Key]; at.Kind != FromDefault {
			places = append(places, slog.String(s.Key, at.String()))
		}
	}
	log.Info("process started", "version", version, "go", runtime.Version(), "name", o.Name, "data_dir", o.DataDir,
		"listen", o.Listen, "ops_listen", o.OpsListen, "cluster_listen", o.ClusterListen, slog.Group("settings_from", places...))
}
