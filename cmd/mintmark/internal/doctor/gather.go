package doctor

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/watchdog"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/memory"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// The sample of syncs ends after this many, or after this time.
const (
	samples    = 100
	sampleTime = 2 * time.Second
)

// A Machine tells what to measure.
type Machine struct {
	Version       string
	Options       config.Options
	SettingsError error
	Getenv        func(string) string
	Root          string // of the system's files; "" to look at none
	// Status asks the node of the data folder. The error is an *admin.UnreachableError
	// that wraps admin.ErrUnreachable if none runs.
	Status func(ctx context.Context) (admin.ClusterStatus, admin.Settings, error)
}

// Gather measures. It changes nothing: the file that it writes to measure the disk has no
// name.
func (m *Machine) Gather(ctx context.Context) *Facts {
	o := &m.Options
	f := &Facts{
		Version: m.Version, Now: time.Now(), Options: *o, SettingsError: m.SettingsError,
		ClockError: watchdog.ClockSynchronised(time.Now()), MemoryLimit: memory.ContainerLimit(),
		Descriptors: descriptors(), LowPorts: firstFreePort(), MayBindLow: mayBindLow(),
	}
	f.Folder = lookAt(o.DataDir)
	f.Disk = diskOf(nearest(o.DataDir))
	if f.Folder.Exists && f.Folder.Error == nil {
		f.Disk.Sync, f.Disk.Error = measureSync(ctx, o.DataDir)
	}
	if o.BackupEvery > 0 {
		f.Backup = backupDisk(o.BackupDir)
		f.Backup.OfData = watchdog.SameDisk(f.Backup.Dir, f.Disk.Dir)
	}
	f.MemoryNeeded = memoryNeeded(o.DataDir)
	f.Unit = readUnit(m.Root, o.DataDir)
	f.Secrets = m.secrets(f.Folder.Data)
	f.Certificates = certificateFiles(o)
	status, settings, err := m.Status(ctx)
	switch {
	case err == nil:
		f.Cluster = &status
		s := admin.SettingsOf(settings.Settings)
		f.Options.PublicURL, f.Options.AppURL = cmp.Or(s.BaseURL, o.PublicURL), cmp.Or(s.AppURL, o.AppURL)
	case !errors.Is(err, admin.ErrUnreachable):
		f.ClusterError = err
	}
	return f
}

func lookAt(path string) Folder {
	f := Folder{Path: path, User: userID()}
	i, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f
	case err != nil:
		f.Error = err
		return f
	case !i.IsDir():
		f.Error = fmt.Errorf("%s is not a folder", path)
		return f
	}
	f.Exists, f.Mode, f.Owner = true, i.Mode(), ownerOf(i)
	_, err = os.Stat(filepath.Join(path, "raft"))
	if f.Data = err == nil; err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.Error = err
	}
	return f
}

// nearest returns path, or the nearest folder above it that exists.
func nearest(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

func diskOf(dir string) Disk {
	d := Disk{Dir: dir}
	d.Free, d.Low, d.Out, _ = watchdog.FreeSpace(dir)
	return d
}

// backupDisk looks at the folder of backups. The node makes it if its parent exists.
func backupDisk(dir string) Disk {
	at := dir
	i, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		at = filepath.Dir(filepath.Clean(dir))
		i, err = os.Stat(at)
	}
	d := diskOf(at)
	switch {
	case err != nil:
		d.Error = err
	case !i.IsDir():
		d.Error = fmt.Errorf("%s is not a folder", at)
	default:
		d.Error = writable(at)
	}
	return d
}

// measureSync measures writes of 4 KiB with fsync to a file without a name.
func measureSync(ctx context.Context, dir string) (all []time.Duration, err error) {
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}
	block := make([]byte, 4<<10)
	_, _ = rand.Read(block)
	for end := time.Now().Add(sampleTime); len(all) < samples && time.Now().Before(end) && ctx.Err() == nil; {
		began := time.Now()
		if _, err := file.WriteAt(block, int64(len(all)*len(block))); err != nil {
			return nil, err
		}
		if err := file.Sync(); err != nil {
			return nil, err
		}
		all = append(all, time.Since(began))
	}
	return all, nil
}

// memoryNeeded estimates the heap of a node by its largest snapshot.
func memoryNeeded(dataDir string) (most int64) {
	const heapPerSnapshotByte = 4
	files, _ := filepath.Glob(filepath.Join(dataDir, "raft", "snapshots", "*", "state.bin"))
	for _, name := range files {
		if i, err := os.Stat(name); err == nil {
			most = max(most, i.Size())
		}
	}
	return heapPerSnapshotByte * most
}

// secrets looks at the files of secrets that the settings name. data reports that the
// folder has data, which need the cluster key.
func (m *Machine) secrets(data bool) (all []Secret) {
	o, credentials := &m.Options, m.Getenv("CREDENTIALS_DIRECTORY")
	look := func(path, what string, needed bool) {
		if path != "" {
			all = append(all, secretAt(path, what, needed, credentials))
		}
	}
	key := config.FindKey(o.ClusterKeyFile, o.DataDir, m.Getenv)
	look(key.File, "cluster key", data || o.ClusterKeyFile != "")
	if len(all) > 0 && all[0].Missing && o.ClusterKeyFile == "" {
		all[0].Credential, all[0].Hidden = findCredential(m.Root, credentials)
	}
	look(filepath.Join(o.DataDir, "cluster.key.old"), "previous cluster key", false)
	look(o.TokenFile, "join token", !data)
	look(o.Upstream.SecretFile, "secret at the provider", true)
	for _, files := range []config.TLSFiles{o.TLS, o.OpsTLS, o.OperatorsTLS} {
		look(files.Key, "TLS private key", true)
	}
	return all
}

func secretAt(path, what string, needed bool, credentials string) Secret {
	s := Secret{Path: path, What: what, Needed: needed}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.Missing = true
		return s
	}
	if s.Error = err; err != nil {
		return s
	}
	defer func() { _ = file.Close() }()
	if i, err := file.Stat(); err == nil {
		s.Owner = ownerOf(i)
	}
	s.Error = config.RequirePrivate(file, what, credentials)
	return s
}
