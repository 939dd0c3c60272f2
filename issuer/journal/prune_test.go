package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

func diskUse(t testing.TB, dir string) int64 {
	t.Helper()
	var sum int64
	for _, name := range segments(t, dir) {
		info, err := os.Stat(name)
		require.NoError(t, err)
		sum += info.Size()
	}
	return sum
}

func TestPrunedBySize(t *testing.T) {
	const limit = 64 << 10
	j := open(t, journal.OnDisk(journal.Config{Dir: t.TempDir(), MaxBytes: limit}, noSyncDisk{journal.RealDisk}))
	j.Covered(0, at(0))
	pad := bytes.Repeat([]byte("x"), 500)
	for seq := uint64(1); seq <= 1000; seq++ {
		j.Append(seq, at(seq), pad)
		if seq%5 == 0 {
			require.NoError(t, j.Flush())
			require.LessOrEqual(t, diskUse(t, j.Dir()), int64(limit))
		}
	}
	check := func(j *journal.Journal) {
		t.Helper()
		list := j.Spans()
		require.Len(t, list, 1)
		assert.Equal(t, uint64(1000), list[0].To)
		assert.Equal(t, at(list[0].From-1), list[0].FromAt)
		have := numbers(records(t, j, 0))
		require.Len(t, have, int(list[0].To-list[0].From+1))
		assert.Equal(t, list[0].From, have[0])
		assert.Greater(t, len(have)*500, limit*3/4, "more than one surplus file was removed")
	}
	check(j)
	require.NoError(t, j.Close())
	check(open(t, configIn(j.Dir())))
}

func TestPrunedByAge(t *testing.T) {
	day := int64(24 * time.Hour / time.Millisecond)
	start := int64(1_790_000_000_000)
	j := open(t, noSyncConfig(t.TempDir()))
	j.Covered(0, start)
	for seq := uint64(1); seq <= 1000; seq++ { // one command each day
		j.Append(seq, start+int64(seq)*day, []byte("x"))
		require.NoError(t, j.Flush())
	}
	list := j.Spans()
	require.Len(t, list, 1)
	assert.Equal(t, uint64(1000), list[0].To)
	assert.InDelta(t, 600-13, list[0].From, 14, "400 days, plus at most a sixteenth")
	assert.LessOrEqual(t, list[0].From, uint64(600), "records within MaxAge must stay")
	assert.Equal(t, list[0].From, numbers(records(t, j, 0))[0])

	// A step of several years is more likely a wrong clock than years without commands.
	// The earlier records are needed once the clock is set right.
	j.Covered(5000, start+5000*day)
	require.NoError(t, j.Flush())
	assert.LessOrEqual(t, j.Spans()[0].From, uint64(700), "the step must count as 100 days")
	assert.Equal(t, uint64(5000), j.Spans()[0].To)
	for seq := uint64(5001); seq <= 5270; seq++ {
		j.Append(seq, start+int64(seq)*day, []byte("x"))
		require.NoError(t, j.Flush())
	}
	have := numbers(records(t, j, 0))
	assert.Contains(t, have, uint64(1000), "270 days after the step")
	assert.NotContains(t, have, uint64(900))
	for seq := uint64(5271); seq <= 5400; seq++ {
		j.Append(seq, start+int64(seq)*day, []byte("x"))
		require.NoError(t, j.Flush())
	}
	assert.NotContains(t, numbers(records(t, j, 0)), uint64(1000))
}

func TestPruneThatFails(t *testing.T) {
	d := newFaulty()
	j := open(t, journal.OnDisk(journal.Config{Dir: t.TempDir(), MaxBytes: 1600, Delay: time.Hour}, d))
	j.Covered(0, at(0))
	d.set(false, "remove")
	d.Disk = unremovable{d.Disk}
	for seq := uint64(1); seq <= 40; seq++ {
		appendRecords(j, seq, 2)
		if err := j.Flush(); err != nil {
			require.ErrorIs(t, err, errDisk)
		}
	}
	require.ErrorIs(t, j.Err(), errDisk)
	assert.Equal(t, []journal.Span{span(1, 40)}, j.Spans(), "records were lost")
	d.Disk = journal.RealDisk
	d.set(false)
	require.NoError(t, j.Flush())
	assert.LessOrEqual(t, diskUse(t, j.Dir()), int64(1600))
}

type unremovable struct{ journal.Disk }

func (unremovable) Remove(string) error { return errDisk }

// TestReadWhileItIsPruned reads, flushes and queries while segments are removed.
func TestReadWhileItIsPruned(t *testing.T) {
	j := open(t, journal.OnDisk(journal.Config{Dir: t.TempDir(), MaxBytes: 32 << 10, Delay: time.Microsecond}, noSyncDisk{journal.RealDisk}))
	j.Covered(0, at(0))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	loop := func(do func() error) {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := do(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	loop(j.Flush)
	loop(func() error {
		last := uint64(0)
		for r, err := range j.Records(0) {
			if err != nil {
				return err
			}
			if next := last + 1; last != 0 && r.Seq != next && (next%7 != 0 || r.Seq != next+1) {
				return fmt.Errorf("command %d follows %d", r.Seq, last)
			}
			last = r.Seq
		}
		return nil
	})
	loop(func() error {
		var out bytes.Buffer
		if err := j.Export(&out); err != nil {
			return err
		}
		h, err := journal.Read(&out)
		if err == nil && len(h.Spans()) > 1 {
			err = fmt.Errorf("gaps in %v", h.Spans())
		}
		return err
	})
	loop(func() error {
		if n := len(j.Spans()); n > 1 {
			return errors.New("gaps")
		}
		return j.Err()
	})
	for seq := uint64(1); seq <= 5000; seq++ {
		if seq%7 == 0 { // a command without record
			j.Covered(seq, at(seq))
		} else {
			appendRecords(j, seq, 1)
		}
		if seq%100 == 0 && j.Flush() != nil {
			break
		}
	}
	close(stop)
	wg.Wait()
	require.NoError(t, j.Close())
	assert.Equal(t, uint64(5000), open(t, configIn(j.Dir())).Spans()[0].To)
}
