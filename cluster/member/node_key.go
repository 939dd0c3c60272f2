package member

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// NodeKeyFile has a node's private key (PKCS #8, DER).
const NodeKeyFile = "node.key"

// NodeKey reads the key of the node whose folder is dir, or creates one.
func NodeKey(rand io.Reader, dir string) (*ecdsa.PrivateKey, error) {
	path := filepath.Join(dir, NodeKeyFile)
	plain, err := store.ReadPrivate(path)
	if err == nil {
		key, err := parseKey(plain)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w: %w: %w", path, err, ErrNodeKeyLost, store.ErrDataLost)
		}
		return key, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read node key: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand)
	if err != nil {
		return nil, fmt.Errorf("generate node key: %w", err)
	}
	if plain, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return nil, fmt.Errorf("encode node key: %w", err)
	}
	if err := durable.Replace(path, plain); err != nil {
		return nil, fmt.Errorf("write node key: %w", err)
	}
	return key, nil
}
