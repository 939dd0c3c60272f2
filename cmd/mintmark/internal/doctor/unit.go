package doctor

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Unit is the systemd unit of a node, as its files and drop-ins tell.
type Unit struct {
	Path     string
	settings map[string][]string // words of all lines of a key
}

// readUnit returns the unit that starts a node with this data folder, nil if there is none
// or it can't be read. root is the root of the system's files.
func readUnit(root, dataDir string) *Unit {
	const name = "mintmark.service"
	if root == "" {
		return nil
	}
	u := &Unit{settings: map[string][]string{}}
	folders := []string{"etc/systemd/system", "run/systemd/system", "usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"}
	for _, dir := range folders {
		path := filepath.Join(root, dir, name)
		if text, err := os.ReadFile(path); err == nil {
			u.Path = path
			u.add(text)
			break
		}
	}
	dropIns := map[string]string{} // path by name: one in /etc replaces one of the same name
	for _, dir := range slices.Backward(folders) {
		paths, _ := filepath.Glob(filepath.Join(root, dir, name+".d", "*.conf"))
		for _, path := range paths {
			dropIns[filepath.Base(path)] = path
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dropIns)) {
		if text, err := os.ReadFile(dropIns[name]); err == nil {
			u.add(text)
		}
	}
	for _, word := range u.settings["ExecStart"] {
		if filepath.Clean(word) == filepath.Clean(dataDir) && u.Path != "" {
			return u
		}
	}
	return nil
}

func (u *Unit) add(text []byte) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		key, value, found := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		switch {
		case !found || strings.HasPrefix(key, "#") || strings.HasPrefix(key, ";"):
		case strings.TrimSpace(value) == "": // resets a list
			delete(u.settings, key)
		default:
			u.settings[key] = append(u.settings[key], strings.Fields(value)...)
		}
	}
}

// allowsLowPorts reports whether the unit gives the node CAP_NET_BIND_SERVICE.
func (u *Unit) allowsLowPorts() bool {
	for _, capability := range u.settings["AmbientCapabilities"] {
		if capability == "CAP_NET_BIND_SERVICE" {
			return true
		}
	}
	return false
}

// forbids reports whether the unit mounts a folder read-only for the node.
func (u *Unit) forbids(dir string) bool {
	if protect := u.settings["ProtectSystem"]; len(protect) == 0 || protect[len(protect)-1] != "strict" {
		return false
	}
	allowed := append([]string(nil), u.settings["ReadWritePaths"]...)
	for _, state := range u.settings["StateDirectory"] {
		allowed = append(allowed, filepath.Join("/var/lib", state))
	}
	for _, path := range allowed {
		in, err := filepath.Rel(strings.TrimLeft(path, "-+"), filepath.Join("/", dir)) // a unit begins in /
		if err == nil && in != ".." && !strings.HasPrefix(in, "../") {
			return false
		}
	}
	return true
}

// findCredential looks for the cluster key where systemd has credentials. It returns the
// path of the key, or reports that this account may not look into one of the folders.
func findCredential(root, environment string) (path string, hidden bool) {
	var candidates []string
	if environment != "" {
		candidates = append(candidates, filepath.Join(environment, "cluster.key"))
	}
	if root != "" {
		running, _ := filepath.Glob(filepath.Join(root, "run/credentials/*/cluster.key"))
		candidates = append(candidates, running...)
		for _, dir := range []string{"etc/credstore", "etc/credstore.encrypted", "run/credstore", "run/credstore.encrypted"} {
			candidates = append(candidates, filepath.Join(root, dir, "mintmark.cluster.key"))
		}
	}
	for _, path := range candidates {
		_, err := os.Lstat(path)
		if err == nil {
			return path, hidden
		}
		hidden = hidden || errors.Is(err, fs.ErrPermission)
	}
	return "", hidden
}
