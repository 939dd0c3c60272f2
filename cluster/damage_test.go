package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// damaged maps each file to the error that the node reports after each kind of damage. ""
// means that the node starts with all its data. A flipped bit may be harmless or not: the
// node either starts with all its data or reports an error.
var damaged = map[string]struct{ removed, emptied, half string }{
	"commit-marker":         {integrity.ErrNoCommitMarker.Error(), integrity.ErrNoCommitMarker.Error(), integrity.ErrNoCommitMarker.Error()},
	"live":                  {},
	"lock":                  {},
	"probe":                 {},
	"log/*.wal":             {coded, coded, coded},
	"log/wal-meta.db":       {coded, coded, coded},
	"node.instance":         {"", member.ErrRebuiltFile.Error(), member.ErrRebuiltFile.Error()},
	"node.key":              {member.ErrNodeKeyLost.Error(), member.ErrNodeKeyLost.Error(), member.ErrNodeKeyLost.Error()},
	"peers.json":            {"", member.ErrRebuiltFile.Error(), member.ErrRebuiltFile.Error()},
	"last-run":              {},
	"snapshots/*/meta.json": {coded, coded, coded},
	"snapshots/*/meta.sum":  {coded, coded, coded},
	"snapshots/*/state.bin": {coded, coded, coded},
}

// coded stands for any error with a code. Operators look up advice by the code.
const coded = "an error with a code"

// bitsOf is how many bits of each file are flipped, one at a time.
const bitsOf = 12

// TestEveryFileDamaged: after damage to any one file of its folder, the node starts with
// all its data, or the error names the file.
func TestEveryFileDamaged(t *testing.T) {
	t.Parallel()
	saved := folderOfOne(t)
	seen := make(map[string]bool)
	require.NoError(t, filepath.WalkDir(saved, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		file, err := filepath.Rel(saved, path)
		require.NoError(t, err)
		for pattern, says := range damaged {
			if ok, _ := filepath.Match(pattern, file); ok {
				seen[pattern] = true
				t.Run(file, func(t *testing.T) { damageFile(t, saved, file, says.removed, says.emptied, says.half) })
				return nil
			}
		}
		require.Fail(t, "no expectation for damage to this file", file)
		return nil
	}))
	require.Len(t, seen, len(damaged))
}

func damageFile(t *testing.T, saved, file, removed, emptied, half string) {
	whole, err := os.ReadFile(filepath.Join(saved, file))
	require.NoError(t, err)
	used := len(bytes.TrimRight(whole, "\x00"))
	to := func(what string, text []byte, says string) {
		t.Helper()
		dir := t.TempDir()
		copyFolder(t, dir, saved)
		path := filepath.Join(dir, file)
		require.NoError(t, os.Remove(path))
		if text != nil {
			require.NoError(t, os.WriteFile(path, text, 0o600))
		}
		err := startDamaged(t, dir)
		switch {
		case says == "" || says == either && err == nil:
			require.NoError(t, err, what)
			return
		case says == either:
			says = coded
			if errors.Is(err, member.ErrRebuiltFile) {
				says = ""
			}
		}
		if says == coded {
			require.NotEmpty(t, errcode.Of(err), "%s: %v", what, err)
		} else {
			require.ErrorContains(t, err, says, what)
		}
		if filepath.Dir(file) != "." { // errors about the log and the snapshots name the folder
			path = dir
		}
		require.ErrorContains(t, err, path, what)
	}
	to("removed", nil, removed)
	if used == 0 {
		return
	}
	to("emptied", []byte{}, emptied)
	if filepath.Base(file) == "wal-meta.db" {
		to("half", whole[:len(whole)/2], either) // bbolt's pages are in any order
	} else {
		to("half", whole[:used/2], half)
	}
	for i := range bitsOf {
		text := bytes.Clone(whole)
		at := nonzero(text, used*i/bitsOf)
		text[at] ^= 1 << (i % 8)
		to(fmt.Sprintf("bit %d of byte %d", i%8, at), text, either)
	}
}

const either = "either"

// nonzero returns the index of the first byte from at on that is not zero, that is, was
// written to.
func nonzero(text []byte, at int) int {
	for text[at] == 0 {
		at++
	}
	return at
}

const damagedValues = 15

// folderOfOne returns the folder of a single node whose log needs its snapshot.
func folderOfOne(t *testing.T) string {
	c := withFewTrailingLogs(networked(t, "", "n1"))
	c.SegmentSize = 16 << 10
	n := open(t, c)
	for i := range damagedValues {
		_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: fmt.Sprint(i), Value: uint64(i)})
		require.NoError(t, err)
		if i == 9 {
			require.NoError(t, n.Snapshot())
		}
	}
	shut(t, n)
	return c.Dir
}

// startDamaged starts a node and returns the error that stopped it. If the node runs,
// startDamaged requires that it has all its data and decides a command. A node that calls
// Fatal keeps the folder, as its process would have ended.
func startDamaged(t *testing.T, dir string) error {
	t.Helper()
	c := networked(t, dir, "n1")
	c.SegmentSize = 16 << 10
	ended := make(chan error, 1)
	c.Fatal = func(err error) {
		select {
		case ended <- err:
		default:
		}
		select {} // stands for the end of the process
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var n *cluster.Node
	opened := make(chan error, 1)
	go func() {
		var err error
		n, err = cluster.Open(ctx, c)
		opened <- err
	}()
	select {
	case err := <-ended:
		return err
	case err := <-opened:
		if err != nil {
			_ = c.Network.Listener.Close()
			return err
		}
	}
	defer shut(t, n)
	require.Equal(t, "n1", n.Name())
	require.Len(t, n.Members(), 1)
	require.NoError(t, n.Corruption())
	for i := range damagedValues {
		require.NotEmpty(t, machinetest.Find(n.View(), fmt.Sprint(i)).Last)
		require.EqualValues(t, i, machinetest.Find(n.View(), fmt.Sprint(i)).Value)
	}
	_, _, err := n.Propose(ctx, &machinetest.Set{Name: "more"})
	require.NoError(t, err)
	return nil
}
