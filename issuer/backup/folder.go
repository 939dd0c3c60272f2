package backup

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// A Folder has the backups that one node makes on schedule:
//
//	mintmark-NODE-000042-20261103T040506Z.backup
//
// The number is that of the node's latest backup in the folder plus one. Backups are
// ordered by it and not by time, because a clock may have been set back. The time is
// Header.Taken. Several nodes may share a folder, and it may have other
// files. Each file with such a name was verified completely after it was written.
type Folder struct {
	Dir  string
	Node string // name of the node
}

// A Scheduled is a backup in a Folder.
type Scheduled struct {
	Name   string // of the file
	Number uint64
	taken  string // Header.Taken as formatted in the name
}

const takenFormat = "20060102T150405Z"

// Make makes the folder if its parent exists.
func (f Folder) Make() error {
	if err := os.Mkdir(f.Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Probe verifies that a file can be written in the folder. RemovePartial removes what a crash
// leaves of it.
func (f Folder) Probe() error {
	file, err := os.CreateTemp(f.Dir, f.temporary()+"*.tmp")
	if err != nil {
		return err
	}
	_, err = file.Write([]byte{0})
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// Create creates the next backup with what write wrote, and returns its name. verify reads
// the file after it was written to disk, and returns its header; after an error there is
// no file. Create is otherwise like the function Create.
func (f Folder) Create(write func(io.Writer) error, verify func(io.Reader) (Header, error)) (name string, err error) {
	all, err := f.List()
	if err != nil {
		return "", err
	}
	next := uint64(1)
	if n := len(all); n > 0 {
		next = all[n-1].Number + 1
	}
	err = create(f.Dir, f.temporary()+"*.tmp", write, func(file *os.File) (string, error) {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return file.Name(), err
		}
		h, err := verify(file)
		if err != nil {
			return file.Name(), err
		}
		name = fmt.Sprintf("mintmark-%s-%06d-%s.backup", f.Node, next, h.Taken.UTC().Format(takenFormat))
		return filepath.Join(f.Dir, name), nil
	})
	if err != nil {
		return "", err
	}
	return name, nil
}

// List returns the backups by number, oldest first. It looks at names only.
func (f Folder) List() (all []Scheduled, err error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, err
	}
	pattern := regexp.MustCompile(`^mintmark-` + regexp.QuoteMeta(f.Node) + `-(\d{6,18})-(\d{8}T\d{6}Z)\.backup$`)
	for _, e := range entries {
		m := pattern.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		if n, err := strconv.ParseUint(m[1], 10, 63); err == nil {
			all = append(all, Scheduled{Name: e.Name(), Number: n, taken: m[2]})
		}
	}
	slices.SortFunc(all, func(a, b Scheduled) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// Prune removes the oldest backups of this node, so that keep are left, and returns the
// names of those that it removed. last is the backup that was verified last: it stays, and
// without it in the folder nothing is removed. Prune removes only files that this node
// made, judging by name and header, in the timeline of last: the backups before a restore
// or recovery may be needed until an operator knows that it was right.
func (f Folder) Prune(keep int, last string) (removed []string, err error) {
	all, err := f.List()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(s Scheduled) bool { return s.Name == last })
	if i < 0 {
		return nil, fmt.Errorf("remove old backups: %s: %w", last, fs.ErrNotExist)
	}
	newest, ok := f.made(all[i])
	if !ok {
		return nil, fmt.Errorf("remove old backups: read %s again: %w", last, ErrDamaged)
	}
	all = slices.DeleteFunc(slices.Delete(all, i, i+1), func(s Scheduled) bool {
		h, ok := f.made(s)
		return !ok || h.Cluster != newest.Cluster || h.timeline() != newest.timeline()
	})
	for _, s := range all[:max(0, len(all)-max(keep-1, 0))] {
		if err := os.Remove(filepath.Join(f.Dir, s.Name)); err != nil {
			return removed, err
		}
		removed = append(removed, s.Name)
	}
	if len(removed) == 0 {
		return nil, nil
	}
	return removed, durable.SyncDir(f.Dir)
}

// made returns the header of a file, and reports whether this node made it. A file whose header can't be read was not
// made by it, or it is damaged and of interest to an operator.
func (f Folder) made(s Scheduled) (Header, bool) {
	path := filepath.Join(f.Dir, s.Name)
	if i, err := os.Lstat(path); err != nil || !i.Mode().IsRegular() {
		return Header{}, false
	}
	file, err := os.Open(path)
	if err != nil {
		return Header{}, false
	}
	defer func() { _ = file.Close() }()
	h, err := ReadHeader(file)
	return h, err == nil && h.Kind == KindState && h.Node == f.Node && h.Taken.UTC().Format(takenFormat) == s.taken
}

// RemovePartial removes what a crash of this node left of backups that were not complete,
// and returns the names. No backup may be in progress.
func (f Folder) RemovePartial() (removed []string, err error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, err
	}
	pattern := regexp.MustCompile(`^` + regexp.QuoteMeta(f.temporary()) + `\d+\.tmp$`)
	for _, e := range entries {
		if !pattern.MatchString(e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(f.Dir, e.Name())); err != nil {
			return removed, err
		}
		removed = append(removed, e.Name())
	}
	return removed, nil
}

// temporary returns the beginning of the name of a file that is not complete.
func (f Folder) temporary() string { return ".mintmark-" + f.Node + ".scheduled." }
