package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Variables of the commands that ask a server on another machine. They are no settings of a
// node.
const (
	EnvServer          = "MINTMARK_SERVER"
	EnvServerCAFile    = "MINTMARK_SERVER_CA_FILE"
	EnvServerTokenFile = "MINTMARK_SERVER_TOKEN_FILE"
	EnvServerCertFile  = "MINTMARK_SERVER_CERT_FILE"
	EnvServerKeyFile   = "MINTMARK_SERVER_KEY_FILE"
	// EnvServerConfig names a YAML file with the same values.
	EnvServerConfig = "MINTMARK_SERVER_CONFIG"
)

var serverVariables = []string{EnvServer, EnvServerCAFile, EnvServerTokenFile, EnvServerCertFile, EnvServerKeyFile, EnvServerConfig}

// A RemoteServer is a server on another machine, and what authenticates the operator there.
type RemoteServer struct {
	URL                          string
	CAFile                       string // authority of the server's certificate; "": those of the system
	TokenFile, CertFile, KeyFile string // credentials
}

// A RemoteOption is one value of a RemoteServer.
type RemoteOption struct {
	Key      string // of the flag, and in the file
	Variable string
	Value    *string
}

// Options returns the values.
func (r *RemoteServer) Options() []RemoteOption {
	return []RemoteOption{
		{"server", EnvServer, &r.URL},
		{"server-ca-file", EnvServerCAFile, &r.CAFile},
		{"token-file", EnvServerTokenFile, &r.TokenFile},
		{"cert-file", EnvServerCertFile, &r.CertFile},
		{"key-file", EnvServerKeyFile, &r.KeyFile},
	}
}

// LoadRemote returns the server that commands ask: a flag overrides the environment, which
// overrides the file. The URL is "" if none of them names one. The credentials are those of
// the first of the three that has any. Nothing of the file is used for another server than
// its own, so that no server gets the token of another.
func LoadRemote(flags RemoteServer) (RemoteServer, error) {
	var environment, file RemoteServer
	for _, o := range environment.Options() {
		*o.Value = os.Getenv(o.Variable)
	}
	r := flags.over(environment)
	if path := remoteFile(); path != "" {
		if err := file.read(path); err != nil {
			return r, err
		}
	}
	if r.URL != "" && r.URL != file.URL {
		return r, nil
	}
	return r.over(file), nil
}

// over returns the values of r and, where it has none, those of other.
func (r RemoteServer) over(other RemoteServer) RemoteServer {
	if r.TokenFile != "" || r.CertFile != "" || r.KeyFile != "" {
		other.TokenFile, other.CertFile, other.KeyFile = "", "", ""
	}
	values := r.Options()
	for i, o := range other.Options() {
		if *values[i].Value == "" {
			*values[i].Value = *o.Value
		}
	}
	return r
}

// remoteFile returns the path of the file: that of the environment, or the one in the user's
// folder of settings if it exists.
func remoteFile() string {
	if path := os.Getenv(EnvServerConfig); path != "" {
		return path
	}
	dir := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(os.Getenv("HOME"), ".config"))
	if !filepath.IsAbs(dir) {
		return ""
	}
	path := filepath.Join(dir, "mintmark", "server.yaml")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}

// read reads the file. Paths in it are relative to its folder.
func (r *RemoteServer) read(path string) error {
	var keys []string
	for _, o := range r.Options() {
		keys = append(keys, o.Key)
	}
	file, err := fileLayer(path, keys)
	if err != nil {
		return err
	}
	for _, o := range r.Options() {
		if !file.values.Exists(o.Key) {
			continue
		}
		if expected := assignValue(o.Value, file.values.Get(o.Key)); expected != "" {
			return fmt.Errorf("%s: %s: expected %s", file.source(o.Key), o.Key, expected)
		}
		if o.Value != &r.URL && *o.Value != "" && !filepath.IsAbs(*o.Value) {
			*o.Value = filepath.Join(filepath.Dir(path), *o.Value)
		}
	}
	return nil
}
