package member

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// NodeIDFile has the id of a node that joined or was created by StaticBootstrap.
const NodeIDFile = "node.id"

// ReadNodeID returns the id under which a folder joined, or nil.
func ReadNodeID(dir string) ([]byte, error) {
	id, err := os.ReadFile(filepath.Join(dir, NodeIDFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read node id: %w", err)
	}
	if id = []byte(strings.TrimSpace(string(id))); !IsNodeID(string(id)) {
		return nil, fmt.Errorf("read node id from %s: %w", filepath.Join(dir, NodeIDFile), ErrRebuiltFile)
	}
	return id, nil
}

// NewNodeID returns a random id.
func NewNodeID(rand io.Reader) ([]byte, error) {
	var random [8]byte
	if _, err := io.ReadFull(rand, random[:]); err != nil {
		return nil, fmt.Errorf("generate node id: %w", err)
	}
	return []byte(hex.EncodeToString(random[:])), nil
}

// IsNodeID reports whether id has the form of a node id: 16 hexadecimal digits.
func IsNodeID(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == 8
}
