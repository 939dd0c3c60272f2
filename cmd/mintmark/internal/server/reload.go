package server

import (
	"os"
	"os/signal"
	"reflect"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// onHangup calls f at each SIGHUP until stop is called. Then the process ignores the
// signal, so that SIGHUP never ends it.
func onHangup(f func()) (stop func()) {
	hangups, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer close(done)
		for range hangups {
			f()
		}
	}()
	return func() {
		signal.Ignore(syscall.SIGHUP) // no signal is sent to hangups after this
		close(hangups)
		<-done
	}
}

// A reloader reads a node's settings again at SIGHUP. It applies those that can
// change while the node runs, and logs the others that differ.
type reloader struct {
	load    func() (config.Options, config.Sources, error)
	current config.Options // the settings in effect
	config  *Config
	server  atomic.Pointer[Server] // nil until the node serves
}

// reloadable are the settings that take effect without a restart.
var reloadable = []string{config.KeyLogLevel, config.KeyAccessLog}

func (r *reloader) reload() {
	log := r.config.Log
	o, _, err := r.load()
	if err != nil {
		log.Error("configuration not reloaded", "error", err)
		return
	}
	var changed, restart []string
	was := r.current.Settings()
	for i, s := range o.Settings() {
		switch {
		case reflect.DeepEqual(was[i].Value, s.Value):
		case slices.Contains(reloadable, s.Key):
			changed = append(changed, s.Key)
		default:
			restart = append(restart, s.Key)
		}
	}
	r.current.LogLevel, r.current.AccessLog = o.LogLevel, o.AccessLog
	r.current.SetLogLevel()
	r.config.AccessLog.Store(o.AccessLog)
	for _, c := range r.config.certificates() {
		c.reload(log, true)
	}
	r.config.Operators.reloadAuthority(log, true)
	r.reloadUpstreamSecret()
	log.Info("configuration reloaded", "changed", changed)
	if len(restart) > 0 {
		log.Warn("changed settings not applied, restart required", "settings", restart)
	}
}

// reloadUpstreamSecret reads the client secret for the upstream provider again, from
// the file that the node was started with.
func (r *reloader) reloadUpstreamSecret() {
	s := r.server.Load()
	if s == nil || s.provider.Load() == nil || r.current.Upstream.SecretFile == "" {
		return
	}
	secret, err := r.current.Upstream.Secret(os.Getenv)
	if err != nil {
		r.config.Log.Error("client secret at the provider not reloaded", "error", err)
		return
	}
	s.provider.Load().SetClientSecret(secret)
}
