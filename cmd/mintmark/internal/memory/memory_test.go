package memory

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestContainerLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"another system": {fstest.MapFS{}, 0},
		"no limit":       {fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("max\n")}, 0},
		"a container":    {fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("536870912\n")}, 512 << 20},
		"a unit in a slice": {fstest.MapFS{
			"proc/self/cgroup": file("0::/system.slice/mintmark.service\n"),
			"sys/fs/cgroup/system.slice/mintmark.service/memory.max": file("max\n"),
			"sys/fs/cgroup/system.slice/memory.max":                  file("1073741824\n"),
		}, 1 << 30},
		"version 1": {fstest.MapFS{
			"proc/self/cgroup": file("5:cpu,cpuacct:/x\n4:memory:/docker/1\n"),
			"sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": file("268435456\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":          file("9223372036854771712\n"),
		}, 256 << 20},
	} {
		require.Equal(t, test.want, containerLimit(test.files), name)
	}
}

func TestPercentFor(t *testing.T) {
	heapAt := func(live, floor int64) int64 { return live + live*int64(percentFor(live, floor))/100 }
	for _, live := range []int64{4 << 20, 10 << 20, 20 << 20} {
		require.InDelta(t, minHeap, heapAt(live, minHeap), 1<<20, "%d bytes live", live)
	}
	for _, live := range []int64{22 << 20, 1 << 30} {
		require.Equal(t, 3*live, heapAt(live, minHeap), "%d bytes live", live)
	}
	require.Equal(t, 200, percentFor(1<<30, 0))
	require.Equal(t, int64(128<<20), bounded(1<<30, 512<<20), "a container has room for more than the heap")
	require.Equal(t, int64(1<<30), bounded(1<<30, 0))
}
