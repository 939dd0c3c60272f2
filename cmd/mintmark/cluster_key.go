package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/keys"
)

// A keySource is where a node's cluster key comes from.
type keySource struct {
	File string // of mode 0600
	// Given is the text of a key that the environment holds; nothing is written
	// then.
	Given []byte
}

// keySourceOf looks where an operator may have put the key: a file that was
// named, the environment, a systemd credential, or the data folder.
func keySourceOf(file, dataDir string, getenv func(string) string) keySource {
	if file != "" {
		return keySource{File: file}
	}
	if text := getenv("MINTMARK_CLUSTER_KEY"); text != "" {
		return keySource{Given: []byte(text)}
	}
	if dir := getenv("CREDENTIALS_DIRECTORY"); dir != "" {
		path := filepath.Join(dir, "cluster.key")
		if _, err := os.Stat(path); err == nil {
			return keySource{File: path}
		}
	}
	return keySource{File: filepath.Join(dataDir, "cluster.key")}
}

// load returns the key, fs.ErrNotExist where there is none yet.
func (s keySource) load() (keys.ClusterKey, error) {
	if s.Given != nil {
		return keys.ParseClusterKey(s.Given)
	}
	return keys.ReadClusterKey(s.File)
}

// make returns the key of a cluster that is about to be made: the operator's,
// or a new one.
func (s keySource) make(log *slog.Logger) (keys.ClusterKey, error) {
	key, err := s.load()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if key, err = keys.NewClusterKey(rand.Reader); err != nil {
		return key, err
	}
	if err := key.WriteFile(s.File); err != nil {
		return key, err
	}
	log.Warn("made a cluster key; whoever loses it loses every key that is sealed under it", "file", s.File)
	return key, nil
}

// keep stores the key that another node gave to this one.
func (s keySource) keep(text []byte) error {
	given, err := keys.ParseClusterKey(bytes.TrimSpace(text))
	if err != nil {
		return err
	}
	has, err := s.load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return given.WriteFile(s.File)
	case err != nil:
		return err
	case !has.Equal(given):
		return fmt.Errorf("this node was given another cluster key than that of the cluster it joins")
	}
	return nil
}
