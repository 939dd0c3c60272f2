//go:build linux || darwin

package doctor

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func userID() uint32 { return uint32(os.Geteuid()) }

func ownerOf(i fs.FileInfo) uint32 {
	if s, ok := i.Sys().(*syscall.Stat_t); ok {
		return s.Uid
	}
	return 0
}

// writable returns nil if this account may make files in a folder.
func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}

// descriptors returns the hard limit of open files: Go raises the other one to it.
func descriptors() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Max)
}

// firstFreePort returns the first port that needs no capability (ip(7)).
func firstFreePort() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
	if n, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
		return n
	}
	return 1024
}

// mayBindLow reports whether this process has CAP_NET_BIND_SERVICE (capabilities(7)).
func mayBindLow() bool {
	const netBindService = 10
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return os.Geteuid() == 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "CapEff:"); ok {
			set, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			return err == nil && set&(1<<netBindService) != 0
		}
	}
	return false
}
