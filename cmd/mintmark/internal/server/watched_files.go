package server

import (
	"os"
	"sync"
)

// watchedFiles are files that are read again when they change. They are polled: that also
// finds a mounted secret that is replaced by a symbolic link to another folder, which a
// watch of the file does not.
type watchedFiles struct {
	paths []string
	// read reads the files. The infos are older than the content, so a later write is
	// noticed. After an error what was read before stays in use.
	read func() ([]os.FileInfo, error)

	mu       sync.Mutex    // guards the fields below
	infos    []os.FileInfo // of the files that were read last; nil after an error
	failure  string        // the last error; "" after a success
	reported bool          // reload has returned failure
}

// open reads the files for the first time.
func (w *watchedFiles) open() (err error) {
	w.infos, err = w.read()
	return err
}

// reload reads the files again if one of them has changed, and reports whether they are in
// use. It returns each error once. A change of several files is seen between them, and a
// write half done, so with settled set to false an error is returned only if the next call
// finds it too.
func (w *watchedFiles) reload(settled bool) (reloaded bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unchanged() {
		return false, nil
	}
	if w.infos, err = w.read(); err == nil {
		w.failure, w.reported = "", false
		return true, nil
	}
	again := err.Error() == w.failure
	if !again {
		w.failure, w.reported = err.Error(), false
	}
	if w.reported || !again && !settled {
		return false, nil
	}
	w.reported = true
	return false, err
}

// unchanged reports whether the files are those that were read last. w.mu is held.
func (w *watchedFiles) unchanged() bool {
	for i, was := range w.infos {
		now, err := os.Stat(w.paths[i])
		if err != nil || !os.SameFile(now, was) || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) || now.Mode() != was.Mode() {
			return false
		}
	}
	return w.infos != nil
}
