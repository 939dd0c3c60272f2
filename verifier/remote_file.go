package verifier

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// The snapshot file is one line with this word, the Unix time of the request
// and the URL, followed by the document as it was received.
const snapshotWord = "mintmark-jwks-1"

// restore reads the key set of the snapshot file, to serve until the first fetch. A file
// that can't be used is ignored.
func (j *JWKS) restore() {
	now := j.now()
	e, err := j.load(now)
	if err == nil {
		j.current.Store(e)
	}
	if j.observer.Refreshed == nil || errors.Is(err, os.ErrNotExist) {
		return
	}
	r := Refresh{Cause: CauseSnapshot, Began: now, Err: err}
	if err == nil {
		r.URL, r.Keys, r.Skipped = e.url, len(e.keys), e.skipped
	}
	j.observer.Refreshed(r)
}

func (j *JWKS) load(now time.Time) (*keySetVersion, error) {
	content, err := readOwn(j.snapshot)
	if err != nil {
		return nil, fmt.Errorf("load snapshot: %w", err)
	}
	line, document, _ := bytes.Cut(content, []byte("\n"))
	words := bytes.Split(line, []byte(" "))
	if len(words) != 3 || string(words[0]) != snapshotWord {
		return nil, errors.New("load snapshot: not a snapshot file")
	}
	at, err := strconv.ParseInt(string(words[1]), 10, 64)
	if err != nil {
		return nil, errors.New("load snapshot: not a snapshot file")
	}
	from, confirmed := string(words[2]), time.Unix(at, 0)
	switch {
	case !slices.ContainsFunc(j.origins, func(o origin) bool { return o.url.String() == from }):
		return nil, errors.New("load snapshot: snapshot is of another URL")
	case confirmed.After(now.Add(time.Minute)):
		return nil, errors.New("load snapshot: snapshot time is ahead of the clock")
	case !now.Before(confirmed.Add(j.stale)):
		return nil, errors.New("load snapshot: keys are too old")
	}
	keys, skipped, err := parseJWKS(document)
	if err != nil {
		return nil, fmt.Errorf("load snapshot: %w", err)
	}
	return &keySetVersion{
		keys: byID(keys), skipped: skipped, document: document, url: from,
		confirmed: confirmed, staleUntil: confirmed.Add(j.stale), restored: true,
	}, nil
}

// readOwn reads a file that only its owner can write.
func readOwn(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, errors.New("file is writable by others than its owner")
	}
	content, err := io.ReadAll(io.LimitReader(f, 2*maxDocument+1))
	if err == nil && len(content) > 2*maxDocument {
		err = errors.New("file is too long")
	}
	return content, err
}

// save writes the snapshot file, whole or not at all.
func (j *JWKS) save(e *keySetVersion) (err error) {
	j.saving.Lock()
	defer j.saving.Unlock()
	if j.current.Load() != e {
		return nil // a newer version is saved too
	}
	f, err := os.CreateTemp(filepath.Dir(j.snapshot), filepath.Base(j.snapshot)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("save snapshot: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("save snapshot: %w", err)
			_ = os.Remove(f.Name())
		}
	}()
	_, err = fmt.Fprintf(f, "%s %d %s\n%s", snapshotWord, e.confirmed.Unix(), e.url, e.document)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), j.snapshot)
}
