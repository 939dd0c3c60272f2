package watchdog

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpaceThresholds(t *testing.T) {
	const mib, gib = uint64(1) << 20, uint64(1) << 30
	for _, tc := range []struct {
		name       string
		total, own uint64
		low, out   uint64
	}{
		{"large", 1000 * gib, 0, 512 * mib, 128 * mib},
		{"10 GiB", 10 * gib, 0, 512 * mib, 128 * mib},
		{"5 GiB", 5 * gib, 0, 256 * mib, 64 * mib},
		{"1 GiB", gib, 0, 128 * mib, 32 * mib},
		{"512 MiB", 512 * mib, 0, 128 * mib, 32 * mib},
		{"64 MiB", 64 * mib, 0, 16 * mib, 4 * mib},
		{"own", 10 * gib, 40 * mib, 40 * mib, 10 * mib},
		{"of unknown size", 0, 0, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			low, out := spaceThresholds(tc.total, tc.own)
			require.Equal(t, tc.low, low)
			require.Equal(t, tc.out, out)
			require.Equal(t, spaceOK, spaceOK.next(tc.total, low, out), "an empty file system")
		})
	}
}

func TestSpaceLevels(t *testing.T) {
	for _, tc := range []struct {
		name string
		free []uint64 // in sequence; low is 400, out 100
		want []SpaceLevel
	}{
		{"fills up", []uint64{1000, 400, 399, 100, 99, 0}, []SpaceLevel{spaceOK, spaceOK, SpaceLow, SpaceLow, SpaceOut, SpaceOut}},
		{"empties", []uint64{0, 100, 109, 110, 400, 439, 440, 1000}, []SpaceLevel{SpaceOut, SpaceOut, SpaceOut, SpaceLow, SpaceLow, SpaceLow, spaceOK, spaceOK}},
		{"flaps about low", []uint64{400, 399, 401, 399, 401, 439, 399}, []SpaceLevel{spaceOK, SpaceLow, SpaceLow, SpaceLow, SpaceLow, SpaceLow, SpaceLow}},
		{"flaps about out", []uint64{300, 99, 101, 99, 101, 109}, []SpaceLevel{SpaceLow, SpaceOut, SpaceOut, SpaceOut, SpaceOut, SpaceOut}},
		{"from one end to the other", []uint64{1000, 0, 1000, 99, 1000}, []SpaceLevel{spaceOK, SpaceOut, spaceOK, SpaceOut, spaceOK}},
		{"out, then a little more than low", []uint64{0, 420}, []SpaceLevel{SpaceOut, SpaceLow}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			level := spaceOK
			for i, free := range tc.free {
				level = level.next(free, 400, 100)
				require.Equal(t, tc.want[i], level, "%d free, step %d", free, i)
			}
		})
	}
}

// TestDiskSpace reads the file system of this machine.
func TestDiskSpace(t *testing.T) {
	free, total, err := diskSpace(t.TempDir())
	require.NoError(t, err)
	require.Positive(t, free)
	require.LessOrEqual(t, free, total)
	require.Greater(t, total, uint64(1<<20))
	_, _, err = diskSpace(filepath.Join(t.TempDir(), "gone"))
	require.Error(t, err)
	require.Error(t, CheckFreeSpace(filepath.Join(t.TempDir(), "gone")))
}

func TestSameDisk(t *testing.T) {
	dir := t.TempDir()
	require.True(t, SameDisk(dir, filepath.Dir(dir)))
	require.False(t, SameDisk(dir, "/dev"))
	require.False(t, SameDisk(dir, filepath.Join(dir, "gone")))
}
