package doctor

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// A State is the result of a check.
type State string

// States, from best to worst.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failure State = "failure"
)

// A Result is what one check found.
type Result struct {
	Check    string `json:"check"`
	State    State  `json:"state"`
	Measured string `json:"measured"`
	Advice   string `json:"advice,omitempty"` // what to do; "" if State is OK
}

// Facts are what is known of a machine and its cluster.
type Facts struct {
	Version string // of this program
	Now     time.Time

	Options       config.Options
	SettingsError error // why Options can't be used

	ClockError error // why the kernel doesn't confirm the clock; nil if it does

	Folder  Folder   // the data folder
	Secrets []Secret // files of secrets, in the data folder and elsewhere
	Disk    Disk     // under the data folder
	// Certificates are those of the listeners with TLS, and the operators' authority.
	Certificates []CertificateFile
	Backup       Disk // under the folder of backups; zero without one

	Descriptors  uint64 // limit of open files; 0 if unknown
	MemoryLimit  int64  // bytes, of the container; 0 for none
	MemoryNeeded int64  // bytes, an estimate of the node's heap; 0 without data

	// MayBindLow reports that this account may listen on ports below LowPorts.
	MayBindLow bool
	LowPorts   int

	Unit *Unit // of this node; nil if there is none, or it is unknown

	// Cluster is the status that the node reports; nil if no node answers.
	Cluster      *admin.ClusterStatus
	ClusterError error // why a node that runs does not report it, such as admin.ErrStandalone; nil if none runs
}

// A Folder is the data folder.
type Folder struct {
	Path   string
	Exists bool
	Error  error // of looking at it
	Mode   fs.FileMode
	Owner  uint32 // user id
	User   uint32 // id of the account that checks
	Data   bool   // it has the data of a node
}

// A Secret is a file that only its owner may read.
type Secret struct {
	Path string
	What string // what is in it
	// Missing is true if there is no such file. Needed then tells whether that is wrong.
	Missing, Needed bool
	// Credential is the path of a credential of systemd that stands for a missing file; ""
	// if none was found. Hidden is true if this account may not look for it everywhere.
	Credential string
	Hidden     bool
	Owner      uint32
	Error      error // why it is not private; nil if it is
}

// A Disk is a file system.
type Disk struct {
	Dir            string
	Free, Low, Out uint64 // bytes: free, and the limits of a node; 0 if unknown
	Sync           []time.Duration
	Error          error // why Sync could not be measured, or Dir can't be used
	OfData         bool  // of backups: it is that of the data
}

// Check judges the facts. The order of the results is fixed.
func Check(f *Facts) []Result {
	var all []Result
	for _, check := range []func(*Facts) Result{
		checkSettings, checkClock, checkPeerClocks, checkDiskSpeed, checkSpace, checkBackupFolder, checkDescriptors, checkMemory,
		checkFolder, checkSecrets, checkPorts, checkProxy, checkCluster, checkVersions, checkCertificates, checkBackupAge,
	} {
		if r := check(f); r.Check != "" {
			all = append(all, r)
		}
	}
	return append(all, checkCertificateFiles(f)...)
}

// Worst returns the worst state of the results.
func Worst(all []Result) State {
	worst := OK
	for _, r := range all {
		if r.State == Failure || r.State == Warning && worst == OK {
			worst = r.State
		}
	}
	return worst
}

func good(check, format string, args ...any) Result {
	return Result{Check: check, State: OK, Measured: fmt.Sprintf(format, args...)}
}

func (r Result) because(s State, advice string) Result {
	r.State, r.Advice = s, advice
	return r
}
