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
	// Text is the text of a key that the environment holds; nothing is written
	// then.
	Text []byte
	// FixedReason says why the key can't be changed while the node runs, and what to
	// do about it; "" where it can.
	FixedReason string
	// Credential says that a service manager made the file.
	Credential bool
}

// keySourceOf looks where an operator may have put the key: a file that was
// named, the environment, a systemd credential, or the data folder.
func keySourceOf(file, dataDir string, getenv func(string) string) keySource {
	own := filepath.Join(dataDir, "cluster.key")
	credentials := getenv("CREDENTIALS_DIRECTORY")
	if file != "" {
		if credentials != "" && filepath.Dir(file) == filepath.Clean(credentials) {
			return credentialSource(file, own)
		}
		return keySource{File: file}
	}
	if text := getenv(envClusterKey); text != "" {
		return keySource{Text: []byte(text), FixedReason: fmt.Sprintf("its cluster key comes from the environment (%s), "+
			"which the node can't change: put the key into %s (mode 0600), start the node without the variable, and try again",
			envClusterKey, own)}
	}
	if credentials != "" {
		path := filepath.Join(credentials, "cluster.key")
		if _, err := os.Stat(path); err == nil {
			return credentialSource(path, own)
		}
	}
	return keySource{File: own}
}

func credentialSource(path, own string) keySource {
	return keySource{File: path, Credential: true, FixedReason: fmt.Sprintf("its cluster key is a systemd credential, "+
		"which the node can't change: put the key into %s (mode 0600), start the node without the credential, and try again", own)}
}

// load returns the key, fs.ErrNotExist where there is none yet.
func (s keySource) load() (keys.ClusterKey, error) {
	if s.Text != nil {
		return keys.ParseClusterKey(s.Text)
	}
	if s.Credential {
		return keys.ReadClusterCredential(s.File)
	}
	return keys.ReadClusterKey(s.File)
}

// open returns the key with those that lie beside it while it is being changed;
// fs.ErrNotExist where there is none yet.
func (s keySource) open() (*keys.ClusterKeys, error) {
	if s.FixedReason == "" {
		return keys.OpenClusterKeys(s.File)
	}
	key, err := s.load()
	if err != nil {
		return nil, err
	}
	return keys.FixedClusterKey(key, s.FixedReason), nil
}

// create returns the key of a cluster that is about to be made: the operator's,
// or a new one.
func (s keySource) create(log *slog.Logger) (*keys.ClusterKeys, error) {
	held, err := s.open()
	if !errors.Is(err, fs.ErrNotExist) {
		return held, err
	}
	key, err := keys.NewClusterKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	if err := key.WriteFile(s.File); err != nil {
		return nil, err
	}
	log.Warn("made a cluster key; whoever loses it loses every key that is sealed under it", "file", s.File)
	return s.open()
}

// store stores the keys that another node gave to this one: more than one while
// the cluster key is being changed.
func (s keySource) store(text []byte) error {
	if s.FixedReason == "" {
		return keys.StoreClusterKeys(s.File, text)
	}
	has, err := s.load()
	if err != nil {
		return err
	}
	if !bytes.Equal(has.Text(), text) {
		return keys.ErrOtherCluster
	}
	return nil
}
