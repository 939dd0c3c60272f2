package memory

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// ContainerLimit returns the memory, in bytes, that the container of this process may take,
// 0 if there is no limit.
func ContainerLimit() int64 { return containerLimit(os.DirFS("/")) }

// containerLimit returns the memory, in bytes, that the container of this process may
// take, 0 if there is no limit. It reads both versions of Linux's control groups; a group
// is limited by those around it too. root is the root of the file system.
func containerLimit(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0 // another system
	}
	least := int64(0)
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // cgroups(7): id, controllers, path
		if len(parts) != 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		if parts[1] == "memory" {
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if limit := readLimit(root, path.Join(mount, group, file)); limit > 0 && (least == 0 || limit < least) {
				least = limit
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// readLimit returns 0 for a file that is missing or has no limit.
func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || limit >= 1<<60 { // "max", and what version 1 has for it
		return 0
	}
	return limit
}
